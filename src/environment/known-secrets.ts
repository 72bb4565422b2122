import type { Param } from '#core/run/run.ts';
import { Secrets } from '#core/secrets/secrets.ts';
import { expandText, literalText, lookupIn, namesIn, splitBackticks } from '#core/words/interpolate.ts';
import {
  type Assignment,
  allSteps,
  type Json,
  type JsonObject,
  type Step,
  type Template,
  type Workflow,
} from '#core/workflow.ts';
import { messageOf } from '#system/errors.ts';
import { pathFrom, readRegular } from '#system/files.ts';
import { type Environment, mergeParams } from './environment.ts';

/** Secrets of a run that are known before anything of it is evaluated. */
export type KnownSecrets = {
  readonly secrets: Secrets;
  readonly names: ReadonlySet<string>;
  /** Secret variables whose values are read from elsewhere. */
  readonly variables: Environment;
  /** Why a secret cannot be read; null if all can. */
  readonly problem: string | null;
  /** Names of secrets that are too short to be masked. */
  readonly tooShort: readonly string[];
};

/** Whether anything in a run of this workflow can be secret. */
export function hasSecrets(workflow: Workflow): boolean {
  const { secrets } = workflow;
  if (secrets.length > 0 || settingSecrets(workflow).length > 0) return true;
  return allSteps(workflow).some((step) => passwords(step).length > 0);
}

/** Headers whose values are no secrets. */
const PLAIN_HEADERS = /^(?:accept|content-type|user-agent)$/i;

/** Settings of the workflow that are secrets: passwords, and the addresses and logins of notifications. */
export function settingSecrets({ smtp, notify = [], registryAuths = {} }: Workflow): readonly Assignment[] {
  const ofMail = { name: 'smtp.password', value: smtp?.password ?? '' };
  const ofNotifications = notify.flatMap(({ url, secret, token, headers }) => [
    { name: 'notify.url', value: url },
    { name: 'notify.secret', value: secret ?? '' },
    { name: 'notify.token', value: token ?? '' },
    // Without the scheme, as in "Bearer TOKEN".
    ...headers.flatMap(({ name, value }) =>
      PLAIN_HEADERS.test(name) ? [] : [{ name: `notify.headers.${name}`, value: value.replace(/^\w+ +/, '') }],
    ),
  ]);
  const logins = typeof registryAuths === 'string' ? [{ auth: registryAuths }] : Object.values(registryAuths);
  const ofRegistries = logins.flatMap(({ password = '', auth = '' }) => [
    { name: 'registryAuths.password', value: password },
    { name: 'registryAuths.auth', value: auth },
  ]);
  return [ofMail, ...ofNotifications, ...ofRegistries].filter(({ value }) => value !== '');
}

/**
 * Reads secrets from their sources and collects those given by the caller, the process environment or the file. Adds
 * them to `secrets`, which may already hold those of the parent run.
 */
export function knownSecrets(
  workflow: Workflow,
  given: readonly Param[],
  processEnv: Environment,
  secrets: Secrets = new Secrets(),
): KnownSecrets {
  const names = new Set(workflow.secrets.map(({ name }) => name));
  const tooShort = new Set<string>();
  const add = (name: string, value: string) => {
    if (!secrets.add(value)) tooShort.add(name);
  };
  const { variables, problem } = readSources(workflow, processEnv);
  for (const [name, value] of Object.entries(variables)) add(name, value);
  for (const name of names) add(name, lookupIn(processEnv)(name) ?? '');
  for (const { name, value, isTemplate } of mergeParams(workflow.params, given)) {
    if (name !== null && names.has(name) && !isTemplate) add(name, value);
  }
  for (const { name, value } of secretTemplates(workflow, names)) {
    // Free of variables and substitutions.
    const isLiteral = namesIn(value).size === 0 && splitBackticks(value).every((part) => 'text' in part);
    if (isLiteral) add(name, literalText(value));
  }
  return { secrets, names, variables, problem, tooShort: [...tooShort] };
}

/**
 * Values that a stored copy of the file must not contain: the secrets known so far and the texts that produce further
 * ones, unless such a text only names another variable.
 */
export function secretsAtRest(
  workflow: Workflow,
  { secrets, names }: Pick<KnownSecrets, 'secrets' | 'names'>,
): Secrets {
  const all = secrets.copy();
  for (const { value } of secretTemplates(workflow, names)) if (!isReference(value)) all.add(value);
  return all;
}

/** Executor settings that are passwords. */
export function passwords({ executor }: Step): readonly Template[] {
  return passwordsIn(executor.config);
}

function passwordsIn(config: JsonObject): readonly string[] {
  return Object.entries(config).flatMap(([key, value]: [string, Json]) => {
    if (typeof value === 'string') return /^(password|passwd)$/i.test(key) ? [value] : [];
    if (typeof value !== 'object' || value === null) return [];
    return Array.isArray(value) ? value.flatMap((item) => passwordsIn({ item })) : passwordsIn(value as JsonObject);
  });
}

function secretTemplates(workflow: Workflow, names: ReadonlySet<string>): readonly { name: string; value: Template }[] {
  const { params, env } = workflow;
  const steps = allSteps(workflow);
  const entries = [...params, ...env, ...steps.flatMap((step) => step.env)];
  const settings = [
    ...settingSecrets(workflow),
    ...steps.flatMap((step) => passwords(step).map((value) => ({ name: `password of step "${step.name}"`, value }))),
  ];
  // A variable that is a whole password is secret too.
  const referenced = settings.flatMap(({ value }) => (isReference(value) ? [...namesIn(value)] : []));
  const secret = new Set([...names, ...referenced]);
  return [
    ...entries.flatMap(({ name, value }) => (name !== null && secret.has(name) ? [{ name, value }] : [])),
    ...settings,
  ];
}

function isReference(template: Template): boolean {
  return /^\s*\$(\w+|\{\w+\})\s*$/.test(template);
}

/** Reads the secrets from elsewhere; one with neither `env` nor `file` is a variable of the workflow anyway. */
function readSources({ secrets, dir }: Workflow, processEnv: Environment): Pick<KnownSecrets, 'variables' | 'problem'> {
  const scope = lookupIn(processEnv);
  const variables: Record<string, string> = {};
  let problem: string | null = null;
  for (const { name, env, file } of secrets) {
    const inherited = env === null ? undefined : scope(env);
    if (inherited !== undefined) variables[name] = inherited;
    else if (file !== null) {
      const path = pathFrom(dir, expandText(file, scope), processEnv['HOME']);
      try {
        // Without the line end that editors and `echo` append.
        variables[name] = readRegular(path)
          .toString('utf8')
          .replace(/\r?\n$/, '');
      } catch (error) {
        problem ??= `secret "${name}": cannot read "${path}": ${messageOf(error)}`;
      }
    } else if (env !== null) problem ??= `secret "${name}": the environment has no variable "${env}"`;
  }
  return { variables, problem };
}
