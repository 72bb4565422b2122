import { assignments, STEERING_NAME, VARIABLE_NAME, variableName } from '../../build/assignments.ts';
import { didYouMean, nearNames } from '../../near-names.ts';
import { type Path, type Problem, problem } from '../../problem.ts';
import { asList, executorType, type NamedTexts, type TextOrList } from '../../raw.ts';
import { type SpecFile, spotIn } from '../../read/spec-file.ts';
import { executorConfigSchema } from '../../schema/schema.ts';
import { ignoredProblems } from '../check-ignored.ts';
import { policyProblems } from '../check-policies.ts';
import { constantProblems } from '../constants/check-constants.ts';
import { expressionProblems } from '../constants/foreign-expressions.ts';
import { canonicalSignal, signalNames } from '../signals.ts';
import type { ActionEntry } from './action-entries.ts';
import { approvalProblems } from './check-approval.ts';
import { stepContainerProblems } from './check-container.ts';
import { publishedProblems } from './check-published.ts';
import { runParamsProblems } from './check-run.ts';
import { serviceProblems } from './check-service.ts';

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
  serviceProblems,
  expressionProblems,
  signalProblems,
  approvalProblems,
  outputProblems,
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
  return assignments(env).flatMap((entry) => {
    if (VARIABLE_NAME.test(entry.name))
      return entry.isBare ? [bareName(file, [...path, ...entry.path], entry.name)] : [];
    const message = `"${entry.name}" is not the name of a variable`;
    const help = 'A name has only letters, digits and "_", and does not start with a digit.';
    return [problem('invalid-name', spotIn(file, [...path, ...entry.path], 'key'), message, { help })];
  });
}

/** Elsewhere a bare name passes a variable on, which happens here anyway; an empty value would be a bad surprise. */
function bareName(file: SpecFile, path: Path, name: string): Problem {
  const help = `Write "${name}=value". Steps inherit the environment of wf without an entry here.`;
  return problem('wrong-value', spotIn(file, path), `"${name}" has no value`, { help });
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
  const params = raw.params === undefined ? [] : [paramsWithoutRun(entry)];
  return [...params, ...executorProblems(entry)];
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
  if (!written.every((key) => isBlank(raw[key]))) return [];
  return written.map((key) =>
    problem('wrong-value', spotIn(file, [...path, key]), `the "${key}" of ${what} is empty`, {
      label: 'nothing to run',
    }),
  );
}

function isBlank(value: TextOrList | undefined): boolean {
  return asList(value).every((text) => text.trim() === '');
}

function conflicting({ file, path, what }: ActionEntry, kept: string, other: string): Problem {
  return problem(
    'conflicting-keys',
    spotIn(file, [...path, other], 'key'),
    `${what} has both "${kept}" and "${other}"`,
    {
      label: 'one too many',
      related: [{ spot: spotIn(file, [...path, kept], 'key'), message: `"${kept}" is given here` }],
      help:
        kept === 'run'
          ? 'A step runs either another workflow or a command of its own.'
          : 'A function has its own command.',
    },
  );
}

function paramsWithoutRun({ file, path, what }: ActionEntry): Problem {
  return problem('conflicting-keys', spotIn(file, [...path, 'params'], 'key'), `${what} has "params" but no "run"`, {
    help: '"params" are passed to the workflow that "run" names; a command takes "args".',
  });
}

/** Checks what the schema cannot require: the short form has no settings, and a command may replace them. */
function executorProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  if (raw.executor === undefined || raw.container !== undefined) return [];
  const type = executorType(raw);
  const config = typeof raw.executor === 'string' ? {} : (raw.executor.config ?? {});
  const need = (text: string) => [problem('missing-key', spotIn(file, [...path, 'executor']), `${what}: ${text}`)];
  const hasConfig = typeof raw.executor !== 'string' && raw.executor.config !== undefined;
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
  if (typeof raw.output !== 'string') return publishedProblems(entry, raw.output);
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
