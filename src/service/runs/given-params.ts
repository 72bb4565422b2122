import { basename } from 'node:path';
import { exactJsonObject } from '#core/data/exact-json.ts';
import { checkParam, typedValue } from '#core/param-rule.ts';
import type { Param } from '#core/run/run.ts';
import { literalText } from '#core/words/interpolate.ts';
import { workflowMentions } from '#core/words/mentions.ts';
import type { Json, Workflow } from '#core/workflow.ts';
import type { DotenvRead } from '#engine/engine.ts';
import { type Environment, mergeParams } from '#environment/environment.ts';
import type { SubworkflowRequest } from '#executors/executor.ts';
import type { Source } from '#language/diagnostic.ts';
import { compileSchema, parseParamTemplates, VARIABLE_NAME } from '#language/formats.ts';
import { locateVariable } from '#language/locate.ts';
import { WfError } from '#system/errors.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import { matchesPattern, patternSize } from '#system/pattern.ts';

/** Names that change the behavior of shells and programs: a file must declare them under `params` to accept them. */
const steeringNames = new Set(
  [
    'PATH IFS ENV HOME SHELL CDPATH FPATH ZDOTDIR SHELLOPTS BASHOPTS PS4 PROMPT_COMMAND INPUTRC',
    'PAGER MANPAGER EDITOR VISUAL BROWSER LESS LESSOPEN LESSCLOSE LESSKEY VIMINIT EXINIT',
    'CC CXX CPP LD AR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS RUSTC RUSTFLAGS RUSTC_WRAPPER CLASSPATH _JAVA_OPTIONS',
    'MAKEFLAGS GNUMAKEFLAGS MAKEFILES GOFLAGS GOENV GOPROXY GOROOT GOPATH GOTOOLCHAIN MAVEN_OPTS MAVEN_ARGS GRADLE_OPTS',
    'TAR_OPTIONS GZIP XZ_OPT GREP_OPTIONS AWKPATH RSYNC_RSH CVS_RSH SVN_SSH SUDO_ASKPASS',
    'CURL_HOME WGETRC NETRC GNUPGHOME OPENSSL_CONF OPENSSL_MODULES OPENSSL_ENGINES SSL_CERT_FILE SSL_CERT_DIR',
    'CURL_CA_BUNDLE REQUESTS_CA_BUNDLE KUBECONFIG PGSERVICEFILE PGPASSFILE PGOPTIONS',
    'AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE AWS_CA_BUNDLE AWS_PAGER',
    'LUA_INIT LUA_PATH LUA_CPATH PHPRC PHP_INI_SCAN_DIR R_PROFILE GEM_HOME GEM_PATH GCONV_PATH GLIBC_TUNABLES HOSTALIASES',
    'XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_HOME XDG_DATA_DIRS',
  ].flatMap((names) => names.split(' ')),
);
const steeringPatterns = [
  /^(?:BASH_|LD_|DYLD_|NODE_|PYTHON|PERL|RUBY|JAVA_|JDK_JAVA_|GIT_|SSH_|DOCKER_|CONTAINER_|ANSIBLE_|HELM_|WF_)/,
  /^(?:CARGO_|PIP_|NPM_CONFIG_|npm_config_|BUNDLE_|DOTNET_|AWS_ENDPOINT_URL|TF_(?!VAR_))/,
  /_proxy$|^(?:HTTPS?|FTP|RSYNC|SOCKS|ALL|NO)_PROXY$/,
];

/** The size of patterns and values that are checked in one turn of the event loop. */
const MOST_CHECKED_AT_ONCE = 1000;
const MOST_FAULTS = 20;
const MOST_NAMES = 20;
const LONGEST_NAME = 60;

/** A rejected parameter, and how the file could accept it. */
type Fault = { readonly message: string; readonly help: string };

/**
 * `isComplete` false: required parameters may still be missing, since the user is prompted for them. `isJsonValue`: a JSON
 * object is a value like any other.
 */
type CheckOptions = { readonly isComplete: boolean; readonly isJsonValue?: boolean };

/**
 * Returns the parameters of a run: the given ones, with the names of a JSON object. Checks that the workflow declares or
 * mentions the name or position of every one, that declared ones have a valid value, and that none is missing. Throws a
 * `WfError` `invalid-params` that lists the faults.
 */
export function acceptParams(
  workflow: Workflow,
  asked: readonly Param[],
  { isComplete, isJsonValue = false }: CheckOptions = { isComplete: true },
): readonly Param[] {
  const given = isJsonValue ? asked : namedParams(workflow, asked);
  if (given.length > 0 && workflow.runConfig?.disableParamEdit) {
    throw new WfError('invalid-params', `workflow "${workflow.name}" takes no parameters: "runConfig" disables them`);
  }
  const { params, paramSchema } = workflow;
  if (given.length === 0 && paramSchema === undefined && !params.some(({ rule }) => rule?.required === true))
    return given;
  const names = refusedNames(workflow, given);
  const shown = names.slice(0, MOST_FAULTS).map((name) => nameFault(name, workflow));
  const refused = new Set<string | null>(names);
  const taken = given.filter(({ name }) => !refused.has(name));
  const alone = [...shown, ...positionFaults(workflow, taken), ...valueFaults(workflow, taken, isComplete)];
  const faults = alone.length > 0 || !isComplete ? alone : schemaFaults(workflow, taken);
  const [first] = faults;
  if (first === undefined) return given;
  const more = names.length > MOST_FAULTS ? [`and ${names.length - MOST_FAULTS} more names`] : [];
  const ofJson = `the keys of the JSON text are parameters; to give the text itself, name one: -p ${declaredNames(workflow)[0]}='{...}'`;
  const help = given !== asked && names.length > 0 ? ofJson : first.help;
  const message = [...faults.map((fault) => fault.message), ...more].join('\n');
  throw new WfError('invalid-params', message, help === '' ? {} : { help });
}

/** Whether `acceptParams` may take more than about 20 ms: a schema or patterns are checked, and they or the values are long. */
export function isLongCheck({ params, paramSchema }: Workflow, given: readonly Param[]): boolean {
  const patterns = params.map(({ rule }) => (rule?.pattern === undefined ? 0 : patternSize(rule.pattern)));
  const letters = given.map(({ value }) => value.length);
  const isChecked = paramSchema !== undefined || patterns.some((size) => size > 0);
  return isChecked && [...patterns, ...letters].reduce((sum, size) => sum + size, 0) > MOST_CHECKED_AT_ONCE;
}

function isSteering(name: string): boolean {
  return steeringNames.has(name) || steeringPatterns.some((pattern) => pattern.test(name));
}

type GivenRun = {
  readonly workflow: Workflow;
  readonly sources?: readonly Source[];
  readonly params?: readonly Param[];
  readonly dotenv?: DotenvRead;
};

/** Throws `invalid-params` for an undeclared parameter that would replace a variable set elsewhere. */
export function refuseReplacements(run: GivenRun, processEnv: Environment): void {
  const { workflow, params = [] } = run;
  if (params.length === 0) return;
  const declared = new Set(declaredNames(workflow));
  const names = new Set(namedParams(workflow, params).flatMap(({ name }) => name ?? []));
  const faults = [...names]
    .filter((name) => !declared.has(name))
    .flatMap((name) => {
      const setter = setterOf(name, run, processEnv);
      return setter === null ? [] : [`parameter "${cut(name)}" would replace ${setter}`];
    });
  if (faults.length === 0) return;
  const help = 'declare it under "params" in the file to let callers set it';
  throw new WfError('invalid-params', faults.slice(0, MOST_FAULTS).join('\n'), { help });
}

/** What sets a variable besides parameters; null if nothing does. */
function setterOf(name: string, { workflow, sources = [], dotenv }: GivenRun, processEnv: Environment): string | null {
  const at = () => {
    const found = locateVariable(sources, name);
    return found === null ? 'the file' : `${basename(found.file)}:${found.start.line}:${found.start.column}`;
  };
  if (workflow.env.some((entry) => entry.name === name)) return `the value that "env" sets (${at()})`;
  const secret = workflow.secrets.find((other) => other.name === name);
  if (secret !== undefined && (secret.env ?? secret.file) !== null) return `the value that "secrets" reads (${at()})`;
  const file = dotenv?.files.find(({ names }) => names.includes(name));
  if (file !== undefined) return `the value that ${file.path} sets`;
  return Object.hasOwn(processEnv, name) ? 'a variable of the environment in which the run starts' : null;
}

function refusedNames(workflow: Workflow, given: readonly Param[]): readonly string[] {
  const declared = new Set(declaredNames(workflow));
  const unknown = new Set(given.flatMap(({ name }) => (name === null || declared.has(name) ? [] : [name])));
  if (unknown.size === 0) return [];
  const { names } = workflowMentions(workflow);
  return [...unknown].filter((name) => !names.has(name) || isSteering(name) || !VARIABLE_NAME.test(name));
}

function nameFault(name: string, workflow: Workflow): Fault {
  const shown = cut(name);
  const help = `declare it under "params" in the file to accept it: "- ${shown}: value"`;
  if (!VARIABLE_NAME.test(name)) {
    return { message: `"${shown}" is not the name of a parameter`, help: 'a name has letters, digits and "_"' };
  }
  if (isSteering(name)) {
    return { message: `parameter "${shown}" changes the behavior of programs, and the file does not declare it`, help };
  }
  const mentioned = [...workflowMentions(workflow).names].filter((other) => !isSteering(other));
  const near = didYouMean(nearNames(name, new Set([...declaredNames(workflow), ...mentioned])));
  const guess = near === '' ? '' : `${near} `;
  const start = near === '' ? 'it' : 'It';
  return { message: `unknown parameter "${shown}": ${guess}${start} takes ${takenText(workflow)}`, help };
}

function takenText(workflow: Workflow): string {
  const names = declaredNames(workflow);
  const positional = workflow.params.length - names.length;
  const byPosition = positional === 0 ? [] : [`${positional} by position`];
  const shown = [...names.slice(0, MOST_NAMES), ...(names.length > MOST_NAMES ? ['...'] : []), ...byPosition];
  return shown.length === 0 ? 'no declared parameters' : shown.join(', ');
}

/** Returns one fault for all surplus positional parameters. A position that a named parameter sets counts too. */
function positionFaults(workflow: Workflow, given: readonly Param[]): readonly Fault[] {
  const merged = mergeParams(workflow.params, given);
  const first = merged.findIndex(({ name }, index) => index >= workflow.params.length && name === null);
  if (first === -1) return [];
  const { position } = workflowMentions(workflow);
  const last = merged.findLastIndex(({ name }) => name === null) + 1;
  if (last <= position) return [];
  const surplus = Math.max(first + 1, position + 1);
  const which =
    last > surplus ? `positional parameters ${surplus} to ${last} are` : `positional parameter ${surplus} is`;
  const count = Math.max(workflow.params.length, position);
  const names = declaredNames(workflow).length > 0 && count <= workflow.params.length;
  const takes = count === 0 ? 'none' : names ? `${count} (${takenText(workflow)})` : String(count);
  return [
    {
      message: `${which} not used: the workflow takes ${takes}`,
      help: `declare it under "params" in the file, or mention "$${surplus}" or "$@" in a command, to accept it`,
    },
  ];
}

/** Whether the workflow takes any parameter by position. */
export function takesPositions(workflow: Workflow): boolean {
  return workflow.params.length > 0 || workflowMentions(workflow).position > 0;
}

function valueFaults(workflow: Workflow, given: readonly Param[], isComplete: boolean): readonly Fault[] {
  return mergeParams(workflow.params, given).flatMap(({ name, value, rule, isTemplate }) => {
    if (rule === undefined || name === null) return [];
    const help = `-p ${name}=...`;
    if (isTemplate) {
      return isComplete && rule.required ? [{ message: `"${name}" is required: ${help}`, help: '' }] : [];
    }
    const fault = paramFault(workflow, { name, value });
    return fault === null ? [] : [{ message: fault, help: rule.description ?? '' }];
  });
}

function schemaFaults({ params, paramSchema }: Workflow, given: readonly Param[]): readonly Fault[] {
  if (paramSchema === undefined) return [];
  const values = mergeParams(params, given).flatMap(({ name, value, rule, isTemplate }) => {
    const text = isTemplate ? literalText(value) : value;
    if (name === null || rule === undefined || (isTemplate && text === '')) return [];
    const checked = checkParam(text, rule, matchesPattern);
    return 'value' in checked ? [[name, typedValue(checked.value, rule)] as const] : [];
  });
  return compileSchema(paramSchema)(Object.fromEntries(values)).map(({ path, message, missing }) => {
    const [name] = path;
    const help = params.find((param) => param.name === name)?.rule?.description ?? '';
    if (name !== undefined) return { message: `"${path.join('.')}" ${message}`, help };
    return {
      message: missing === null ? `the parameters ${message}` : `"${missing}" is required: -p ${missing}=...`,
      help,
    };
  });
}

/** Why a value is not valid for a declared parameter, as a sentence; null if it is valid. */
export function paramFault({ params, secrets }: Workflow, { name, value }: Param): string | null {
  const rule = params.find((param) => param.name === name)?.rule;
  const checked = rule === undefined ? { value } : checkParam(value, rule, matchesPattern);
  if (!('fault' in checked)) return null;
  const isShown = value !== '' && !secrets.some((secret) => secret.name === name);
  return `"${name}" ${checked.fault}${isShown ? `, got ${JSON.stringify(cut(value))}` : ''}`;
}

function declaredNames({ params }: Workflow): readonly string[] {
  return params.flatMap(({ name }) => name ?? []);
}

function cut(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}...` : name;
}

/** Returns the parameters that the caller does not set, with their defaults as written; null without one. */
export function unsetParams(
  { params }: Pick<Workflow, 'params'>,
  given: readonly Param[],
): readonly { readonly name: string; readonly preset: string | null }[] {
  return mergeParams(params, given).flatMap(({ name, value, isTemplate }) =>
    isTemplate && name !== null ? [{ name, preset: value === '' ? null : value }] : [],
  );
}

/** Returns the names of parameters that have no value, and of required ones that the caller does not set. */
export function openParams({ params }: Pick<Workflow, 'params'>, given: readonly Param[]): readonly string[] {
  const open = new Set(
    params.flatMap((param) => ((param.open || param.rule?.required) && param.name !== null ? [param.name] : [])),
  );
  if (open.size === 0) return [];
  return mergeParams(params, given).flatMap(({ name, isTemplate }) =>
    isTemplate && name !== null && open.has(name) ? [name] : [],
  );
}

type ChildParams = Omit<SubworkflowRequest, 'run'> & { readonly expand: (text: string) => string };

/**
 * Reads a JSON object as named parameters, as later versions of Dagu do: if it is the only value without a name, all
 * declared parameters have names, and one of its keys is such a name. Otherwise it is a value like any other, and the
 * same list is returned.
 */
function namedParams({ params }: Pick<Workflow, 'params'>, given: readonly Param[]): readonly Param[] {
  const [json, ...others] = given.filter(({ name }) => name === null);
  if (json === undefined || others.length > 0 || params.some(({ name }) => name === null)) return given;
  const isGiven = (wanted: string | null) => given.some(({ name }) => name === wanted);
  // A stored list has all declared names: another value of it stays a value.
  if (params.every(({ name }) => isGiven(name))) return given;
  const values = Object.entries(exactJsonObject(json.value) ?? {});
  if (!values.some(([key]) => params.some(({ name }) => name === key))) return given;
  const named = values.map(([name, value]) => ({ name, value: textOf(value) }));
  return given.flatMap((param) => (param === json ? named : [param]));
}

/**
 * The parameters that a step gives to another workflow. Only JSON that the file itself writes, and that of `json`, gives
 * names: a value of a variable never does. Throws a `WfError` `invalid-params` for an undeclared name in `json`.
 */
export function childParams(
  workflow: Workflow,
  { params, json, isDefault = false, expand }: ChildParams,
): readonly Param[] {
  if (json !== undefined) return jsonObjectParams(workflow, expand(json));
  // The JSON of the text is read before variables are replaced, whose values might end its strings.
  const named = namedParams(workflow, parseParamTemplates(params));
  const given = named.map(({ name, value }) => ({ name, value: expand(value) }));
  return isDefault ? given.filter(takenBy(workflow)) : given;
}

function jsonObjectParams(workflow: Workflow, text: string): readonly Param[] {
  const object = exactJsonObject(text);
  if (object === null) {
    const help = 'to set a parameter of the name "json", write: params: ["json=..."]';
    throw new WfError('invalid-params', 'the text of "params: {json: ...}" is not a JSON object', { help });
  }
  const declared = declaredNames(workflow);
  const unknown = Object.keys(object).filter((name) => !declared.includes(name));
  if (unknown.length > 0) {
    const names = unknown.slice(0, 10).map((name) => `"${name.slice(0, 60)}"`);
    const takes = declared.length === 0 ? 'declares no parameters' : `declares ${declared.join(', ')}`;
    const message = `${names.join(', ')} in the JSON of "params" is undeclared: workflow "${workflow.name}" ${takes}`;
    throw new WfError('invalid-params', message);
  }
  return Object.entries(object).map(([name, value]) => ({ name, value: textOf(value) }));
}

/** Whether a workflow takes an item: anything if it declares parameters, else what it mentions. */
function takenBy(workflow: Workflow): (param: Param) => boolean {
  if (workflow.runConfig?.disableParamEdit) return () => false;
  if (workflow.params.length > 0) return () => true;
  const { names, position } = workflowMentions(workflow);
  return ({ name }) => (name === null ? position > 0 : names.has(name));
}

function textOf(value: Json): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
