import { PATH } from '#core/words/json-path.ts';
import type { JsonObject } from '#core/workflow.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import { canonicalSignal, isSource, OUTPUT_KEY, signalNames } from '../build/build-step.ts';
import { type Path, type Problem, problem } from '../diagnostic.ts';
import {
  asList,
  assignments,
  executorOf,
  executorType,
  type NamedTexts,
  type RawRepeat,
  STEERING_NAME,
  VARIABLE_NAME,
  variableName,
} from '../raw.ts';
import { type ActionEntry, type SpecFile, spotIn } from '../read/spec-file.ts';
import { executorConfigSchema } from '../schema/schema.ts';
import { constantProblems, expressionProblems } from './check-constants.ts';
import { lateStepProblems } from './check-late.ts';
import { stepLockProblems } from './check-locks.ts';
import { runParamsProblems } from './check-params.ts';
import { stepSelectorProblems } from './check-selectors.ts';
import { artifactProblems, upToDateProblems } from './check-step-files.ts';
import { approvalProblems, backgroundProblems, stepContainerProblems } from './check-step-kinds.ts';

/** Checks a step or handler by itself. */
export function actionProblems(entry: ActionEntry): Problem[] {
  return checks.flatMap((check) => check(entry));
}

const checks: readonly ((entry: ActionEntry) => readonly Problem[])[] = [
  workProblems,
  blankProblems,
  ignoredProblems,
  runParamsProblems,
  policyProblems,
  constantProblems,
  stepContainerProblems,
  backgroundProblems,
  expressionProblems,
  signalProblems,
  approvalProblems,
  outputProblems,
  stepLockProblems,
  stepSelectorProblems,
  artifactProblems,
  upToDateProblems,
  lateStepProblems,
  declaredProblems,
  ownEnvProblems,
];

function ownEnvProblems({ file, path, raw }: ActionEntry): Problem[] {
  return raw.env === undefined ? [] : envProblems(file, [...path, 'env'], raw.env);
}

/** Checks `defaults`, which run nothing by themselves. */
export function defaultsProblems(entry: ActionEntry): Problem[] {
  return [...policyProblems(entry), ...signalProblems(entry), ...ownEnvProblems(entry)];
}

/** Reports invalid variable names, and names without a value. */
export function envProblems(file: SpecFile, path: Path, env: NamedTexts | undefined): Problem[] {
  return assignments(env).flatMap(({ name, path: at, isBare }) => {
    if (!VARIABLE_NAME.test(name)) {
      const message = `"${name}" is not the name of a variable`;
      const help = 'A name has only letters, digits and "_", and does not start with a digit.';
      return [problem('invalid-name', spotIn(file, [...path, ...at], 'key'), message, { help })];
    }
    if (!isBare) return [];
    // Elsewhere a bare name passes a variable on, which happens here anyway; an empty value would be a bad surprise.
    const help = `Write "${name}=value". Steps inherit the environment of wf without an entry here.`;
    return [problem('wrong-value', spotIn(file, [...path, ...at]), `"${name}" has no value`, { help })];
  });
}

const works = ['command', 'script', 'executor', 'container', 'run', 'call'] as const;

/** A step needs something to run, and only one kind of it. */
function workProblems(entry: ActionEntry): Problem[] {
  const { file, path, raw, what } = entry;
  const kinds = (['run', 'call'] as const).filter((key) => raw[key] !== undefined);
  const others = works.filter((key) => raw[key] !== undefined);
  const [kind] = kinds;
  if (kind !== undefined) {
    // A function runs in the container of its step; other conflicts of containers are reported with them.
    const conflict = others.find((key) => key !== kind && key !== 'container');
    return conflict === undefined ? [] : [conflicting(entry, kind, conflict)];
  }
  if (file.damaged.has(raw)) return [];
  if (others.length === 0 && raw.approval !== undefined && raw.approval !== false) return [];
  if (others.length === 0) {
    return [problem('missing-key', spotIn(file, path), `${what} has nothing to run`, { help: workHelp(entry) })];
  }
  const spot = spotIn(file, [...path, 'params'], 'key');
  const help = '"params" are passed to the workflow that "run" names; a command takes "args".';
  const surplus = problem('conflicting-keys', spot, `${what} has "params" but no "run"`, { help });
  return [...(raw.params === undefined ? [] : [surplus]), ...executorProblems(entry)];
}

function workHelp({ path, raw: { parallel, matrix } }: ActionEntry): string {
  const last = path[0] === 'handlerOn' ? '"run" or "call"' : '"run", "call" or "approval"';
  const help = `Give it "command", "script", "executor", "container", ${last}.`;
  if (parallel === undefined && matrix === undefined) return help;
  return `${help} It runs once for each item. Steps that run at the same time are steps of their own.`;
}

/** Reports empty values. How containers, filters and tools treat an empty text is left to them. */
function blankProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  const type = executorType(raw);
  const keys = ['command', 'ssh', 'http'].includes(type) ? (['command', 'script', 'run'] as const) : (['run'] as const);
  const written = keys.filter((key) => raw[key] !== undefined);
  if (written.some((key) => asList<string>(raw[key]).some((text) => text.trim() !== ''))) return [];
  const label = 'nothing to run';
  return written.map((key) =>
    problem('wrong-value', spotIn(file, [...path, key]), `the "${key}" of ${what} is empty`, { label }),
  );
}

function conflicting({ file, path, what }: ActionEntry, kept: string, other: string): Problem {
  const isRun = kept === 'run';
  const help = isRun
    ? 'A step runs either another workflow or a command of its own.'
    : 'A function has its own command.';
  const related = [{ spot: spotIn(file, [...path, kept], 'key'), message: `"${kept}" is given here` }];
  const message = `${what} has both "${kept}" and "${other}"`;
  const spot = spotIn(file, [...path, other], 'key');
  return problem('conflicting-keys', spot, message, { label: 'one too many', related, help });
}

/** Checks what the schema cannot require: the short form has no settings, and a command may replace them. */
function executorProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  if (raw.executor === undefined || raw.container !== undefined) return [];
  const type = executorType(raw);
  const { config = {} } = executorOf(raw);
  const need = (text: string) => [problem('missing-key', spotIn(file, [...path, 'executor']), `${what}: ${text}`)];
  const hasConfig = executorOf(raw).config !== undefined;
  const required = hasConfig ? undefined : executorConfigSchema(type)?.required?.[0];
  if (required !== undefined) return need(`the ${type} executor needs "${required}" in its "config"`);
  const work = raw.command !== undefined || raw.script !== undefined;
  const isExec = config.exec !== undefined && config.exec !== false;
  if (type === 'docker' && config.image === undefined && config.containerName === undefined && !isExec) {
    return need('the docker executor needs "image" in its "config"');
  }
  if (type === 'docker' && config.containerName === undefined && isExec) {
    return need('"exec" needs "containerName", the running container');
  }
  if (type === 'http' && raw.command === undefined && raw.args === undefined) {
    return need('the http executor needs "command: METHOD url"');
  }
  if ((type === 'command' || type === 'ssh') && !work) return need(`the ${type} executor needs "command" or "script"`);
  if (type === 'terraform' && config.subcommand === undefined && raw.command === undefined && config.init !== true) {
    return need('the terraform executor needs "subcommand" in its "config"');
  }
  if ((type === 'terraform' || type === 'ansible') && raw.script !== undefined) {
    const message = `${what}: the ${type} executor takes no "script"`;
    return [problem('conflicting-keys', spotIn(file, [...path, 'script'], 'key'), message)];
  }
  if (type === 'jq' && raw.script === undefined) return need('the jq executor needs its input as "script"');
  return [];
}

function signalProblems({ file, path, raw }: ActionEntry): Problem[] {
  const name = raw.signalOnStop;
  if (name === undefined || canonicalSignal(name) !== null) return [];
  const upper = name.toUpperCase();
  const label = () => didYouMean(nearNames(upper.startsWith('SIG') ? upper : `SIG${upper}`, signalNames()));
  return [problem('invalid-signal', spotIn(file, [...path, 'signalOnStop']), `unknown signal "${name}"`, { label })];
}

function outputProblems(entry: ActionEntry): Problem[] {
  const { file, path, raw } = entry;
  if (raw.output === undefined) return [];
  if (typeof raw.output !== 'string') return [...variableOfDagu(entry, raw.output), ...keyProblems(entry, raw.output)];
  const name = variableName(raw.output);
  if (name !== null && !STEERING_NAME.test(name)) return [];
  if (name !== null) {
    const message = `the output "${name}" would change how later programs run`;
    return [problem('reserved-name', spotIn(file, [...path, 'output']), message, { help: 'Choose another name.' })];
  }
  const message = `"${raw.output}" is not the name of a variable`;
  const help =
    'A name has only letters, digits and "_", and does not start with a digit. To write a file, use "stdout".';
  return [problem('invalid-name', spotIn(file, [...path, 'output']), message, { help })];
}

/** Checks `outputs`, which a program of this machine writes into a file. */
function declaredProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  const { outputs, output } = raw;
  if (outputs === undefined) return [];
  const spot = spotIn(file, [...path, 'outputs']);
  if (outputs.length === 0) return [problem('wrong-value', spot, `${what}: "outputs" is empty`)];
  const isElsewhere =
    executorType(raw) !== 'command' || (file.raw.container !== undefined && raw.executor === undefined);
  if (raw.run !== undefined || isElsewhere) {
    const help = 'Print the values as JSON, and read them with "output" as a map.';
    return [problem('not-supported', spot, `${what}: "outputs" is only for programs of this machine`, { help })];
  }
  if (typeof output === 'string') {
    const message = `${what} has both "outputs" and a variable under "output"`;
    return [problem('conflicting-keys', spot, message, { help: 'Remove one of them.' })];
  }
  const seen = new Set(Object.keys(output ?? {}));
  return outputs.flatMap(({ name }, index) => {
    const at = spotIn(file, [...path, 'outputs', index, 'name']);
    if (name === undefined) return [];
    const isTaken = seen.has(name);
    seen.add(name);
    if (isTaken) return [problem('duplicate-key', at, `${what}: the output "${name}" is declared twice`)];
    if (OUTPUT_KEY.test(name)) return [];
    const help = 'A name has only letters, digits, "_" and "-", so that ${ID.outputs.NAME} can name it.';
    return [problem('invalid-name', at, `"${name}" is not the name of an output`, { help })];
  });
}

const values: { readonly [key: string]: readonly string[] } = {
  from: ['stdout', 'stderr', 'file', 'text'],
  decode: ['text', 'json', 'yaml'],
};
const SELECT = new RegExp(`^${PATH}$`);

/** Dagu writes the variable for standard output as `{name: OUT, key: out, omit: false}` too. */
function variableOfDagu({ file, path, what }: ActionEntry, output: JsonObject): Problem[] {
  const { name, key, omit, ...others } = output;
  if (typeof name !== 'string' || Object.keys(others).length > 0) return [];
  // A text in lower case is more likely meant as the value.
  if (key === undefined && omit === undefined && !/^[A-Z][A-Z0-9_]*$/.test(name)) return [];
  const message = `${what}: "output" as a map publishes the text "${name}" under "name", and sets no variable`;
  const help = `For standard output in $${name}, write output: ${name}`;
  return [problem('wrong-value', spotIn(file, [...path, 'output']), message, { severity: 'warning', help })];
}

function keyProblems(entry: ActionEntry, output: JsonObject): Problem[] {
  return Object.entries(output).flatMap(([key, value]) => {
    const path = [...entry.path, 'output', key];
    if (!OUTPUT_KEY.test(key)) {
      const help = 'A key has only letters, digits, "_" and "-", so that ${ID.output.KEY} can name it.';
      const message = `"${key}" is not the key of an output`;
      return [problem('invalid-name', spotIn(entry.file, path, 'key'), message, { help })];
    }
    return isSource(value) ? sourceProblems(entry, path, value) : [];
  });
}

function sourceProblems({ file }: ActionEntry, path: Path, source: JsonObject): Problem[] {
  const key = String(path.at(-1));
  const wrong = (name: string, message: string, help: string) =>
    problem('wrong-value', spotIn(file, [...path, name]), `output "${key}": ${message}`, { help });
  const { from, decode = 'text', select, path: filePath } = source;
  const problems = Object.entries(source).flatMap(([name, value]) => {
    const allowed = values[name];
    if (allowed === undefined && name !== 'path' && name !== 'text' && name !== 'select') {
      return [wrong(name, `unknown key "${name}"`, 'It takes from, path, text, decode and select.')];
    }
    if (typeof value !== 'string') return [wrong(name, `"${name}" must be text`, '')];
    if (allowed === undefined || allowed.includes(value)) return [];
    return [wrong(name, `"${name}" cannot be "${value}"`, `One of ${allowed.join(', ')}.`)];
  });
  if (problems.length > 0) return problems;
  if ((from === 'file') !== (filePath !== undefined)) {
    return from === 'file'
      ? [problem('missing-key', spotIn(file, path), `output "${key}" needs "path"`, { help: 'path: report.json' })]
      : [wrong('path', '"path" is only for "from: file"', 'Remove it, or write "from: file".')];
  }
  if ((from === 'text') !== (source['text'] !== undefined)) {
    return from === 'text'
      ? [problem('missing-key', spotIn(file, path), `output "${key}" needs "text"`, { help: 'text: v$VERSION' })]
      : [wrong('text', '"text" is only for "from: text"', 'Remove it, or write "from: text".')];
  }
  if (select === undefined) return [];
  if (decode === 'text') return [wrong('select', '"select" needs "decode: json" or "decode: yaml"', 'Add it.')];
  return SELECT.test(String(select))
    ? []
    : [wrong('select', `"${select}" is not a path`, 'For example .items[0].name')];
}

const REPEAT_HELP = 'Add "repeat: true", or a "condition" to repeat until it is met: repeat: until.';

/** Checks `continueOn`, `retryPolicy` and `repeatPolicy` of a step or handler. */
function policyProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  const { continueOn, repeatPolicy } = raw;
  const wrong = (key: Path, message: string, help: string) =>
    problem('wrong-value', spotIn(file, [...path, ...key]), `${what}: ${message}`, { help });
  const problems: Problem[] = [];
  if (typeof continueOn === 'string' && continueOn !== 'failed' && continueOn !== 'skipped') {
    const help = 'Write "failed" or "skipped", or a map such as {failure: true, skipped: true}.';
    problems.push(wrong(['continueOn'], `"continueOn" cannot be "${continueOn}"`, help));
  }
  if (repeatPolicy === undefined) return problems;
  const { repeat, condition, exitCode } = repeatPolicy;
  const isOpen = condition === undefined && exitCode === undefined;
  if (isOpen && (repeat === 'while' || repeat === 'until')) {
    const message = `"repeat: ${repeat}" needs a "condition" or "exitCode"`;
    const help = `For example: {repeat: ${repeat}, condition: "test -f done"}`;
    const spot = spotIn(file, [...path, 'repeatPolicy', 'repeat']);
    return [...problems, problem('missing-key', spot, `${what}: ${message}`, { help })];
  }
  const idle = idleKey(repeatPolicy);
  if (idle !== null) {
    const spot = spotIn(file, [...path, 'repeatPolicy', idle], 'key');
    const message = `${what}: "${idle}" is ignored: "repeatPolicy" repeats nothing`;
    problems.push(problem('ignored-key', spot, message, { severity: 'warning', label: 'ignored', help: REPEAT_HELP }));
  }
  return problems;
}

/** A key that only means something with repetitions, in a policy that repeats nothing. */
function idleKey(policy: RawRepeat): string | null {
  if (policy.repeat !== undefined || policy.condition !== undefined || policy.exitCode !== undefined) return null;
  const keys = ['limit', 'expected', 'negate', 'backoff', 'maxIntervalSec'] as const;
  return keys.find((key) => policy[key] !== undefined) ?? null;
}

/** Warns about valid keys that have no effect in this step. */
function ignoredProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  const { by, help, keys } = unusedBy(raw);
  return keys.map((key) => {
    const message = `${what}: "${key.at(-1)}" is ignored: ${by} does not use it`;
    const spot = spotIn(file, [...path, ...key], 'key');
    return problem('ignored-key', spot, message, { severity: 'warning', label: 'ignored', help });
  });
}

/** Keys that a part of the step ignores, and what to use instead. */
function unusedBy(raw: ActionEntry['raw']): { by: string; help: string; keys: readonly Path[] } {
  const { run, call } = raw;
  const given = (names: readonly ('command' | 'script' | 'args')[]) =>
    names.filter((name) => raw[name] !== undefined).map((name) => [name]);
  if (run !== undefined) return { by: '"run"', help: 'The other workflow gets "params".', keys: given(['args']) };
  if (call !== undefined) {
    return { by: '"call"', help: 'Pass arguments as "args" within "call".', keys: given(['args']) };
  }
  switch (executorOf(raw).type) {
    case 'webhook': {
      const help = 'Set "url", "method" and "body" in its "config".';
      return { by: 'the webhook executor', help, keys: given(['command', 'args']) };
    }
    case 'mail': {
      const help = 'Set "subject" and "message" in its "config".';
      return { by: 'the mail executor', help, keys: given(['command', 'script', 'args']) };
    }
    case 'docker': {
      const help = 'It applies to new containers; the settings of the command are in "exec".';
      return { by: 'a command in a running container', help, keys: unusedByExec(raw) };
    }
    default:
      return { by: '', help: '', keys: [] };
  }
}

const ofNewContainers = ['image', 'pull', 'platform', 'container', 'host', 'network'];

/** A step uses a running container if it has `exec`, or names a container and no image. */
function unusedByExec(raw: ActionEntry['raw']): readonly Path[] {
  const { config = {} } = executorOf(raw);
  const { exec, image, containerName } = config;
  const isExec = exec === undefined ? image === undefined : exec !== false;
  if (!isExec || containerName === undefined) return [];
  return ofNewContainers.filter((key) => config[key] !== undefined).map((key) => ['executor', 'config', key]);
}
