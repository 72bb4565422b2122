import { parseSpan } from '#core/time-text.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import { patternProblem } from '#system/pattern.ts';
import { inputName, inputsOf, isService } from '../build/build-step.ts';
import { declaredRule, evaluatedTexts, isDeclaration } from '../declared-params.ts';
import { type Path, type Problem, problem } from '../diagnostic.ts';
import {
  asList,
  entriesAt,
  executorType,
  type OpenTextMap,
  type RawContainer,
  type RawService,
  STEERING_NAME,
  textsIn,
  VARIABLE_NAME,
} from '../raw.ts';
import { type ActionEntry, type SpecFile, spotIn } from '../read/spec-file.ts';
import { declarationProblems } from './check-params.ts';

/** A map in the file: `what` names its owner in messages. */
type Place = { readonly file: SpecFile; readonly path: Path; readonly what: string };
/** A container in the file. `isShared`: it starts before the commands in it. */
type Scope = Place & { readonly isShared: boolean };

/** Keys of a container that `wf` does not start itself. */
const OF_RUNNING: ReadonlySet<string> = new Set(['exec', 'user', 'workingDir', 'env', 'shell']);
/** Keys of a container that has a program of its own. */
const OF_SHARED = ['startup', 'command', 'waitFor', 'logPattern'] as const;

/** Keys of steps whose container already has a program. */
const works = ['command', 'script', 'args', 'call'] as const;

/** Checks the container of a step or handler. */
export function stepContainerProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  const { container } = raw;
  if (container === undefined) return [];
  const other = (['executor', 'run'] as const).find((key) => raw[key] !== undefined);
  const scope = { file, path: [...path, 'container'], what, isShared: isService(raw) };
  const isRunning = typeof container === 'string' || container.exec !== undefined;
  const isIdle = isRunning && works.every((key) => raw[key] === undefined);
  return [
    ...(isIdle ? [problem('missing-key', spotIn(file, path), `${what} has nothing to run in the container`)] : []),
    ...(other === undefined ? [] : [conflict(scope, [...path, other], `${what} has both "container" and "${other}"`)]),
    ...containerProblems(container, scope),
  ];
}

/** Checks the container of the workflow. */
export function sharedContainerProblems(file: SpecFile): Problem[] {
  const { container } = file.raw;
  const scope = { file, path: ['container'], what: 'the workflow', isShared: true };
  return container === undefined ? [] : containerProblems(container, scope);
}

/** Checks a container by itself. */
function containerProblems(container: string | RawContainer, scope: Scope): Problem[] {
  const { file, path, what, isShared } = scope;
  if (typeof container === 'string') {
    return container.trim() === '' ? [wrong(scope, [], 'the name of the container is empty')] : [];
  }
  const { image, exec, startup, command } = container;
  if (image === undefined && exec === undefined) {
    if (file.damaged.has(container)) return [];
    const help = 'Name an image, or with "exec" a running container.';
    return [problem('missing-key', spotIn(file, path), `${what}: "container" needs "image" or "exec"`, { help })];
  }
  const unused = Object.keys(container).filter((key) => !/^x-/i.test(key) && !OF_RUNNING.has(key));
  if (exec !== undefined) {
    return unused.map((key) =>
      conflict(scope, [...path, key], `${what}: "exec" runs in a running container, so "${key}" has no effect`),
    );
  }
  const early = isShared ? [] : OF_SHARED.filter((key) => container[key] !== undefined);
  return [
    ...early.map((key) =>
      conflict(scope, [...path, key], `${what}: "${key}" belongs to the container of the workflow or of a service`),
    ),
    ...(startup === 'command' && command === undefined
      ? [problem('missing-key', spotIn(file, [...path, 'startup']), `${what}: "startup: command" needs "command"`)]
      : []),
    ...(command !== undefined && startup !== undefined && startup !== 'command'
      ? [conflict(scope, [...path, 'command'], `${what}: "startup: ${startup}" does not use "command"`)]
      : []),
    ...valueProblems(container, scope),
  ];
}

const VOLUME = /^[^:]+:\/[^:]*(:[a-zA-Z,]+)?$/;
const PORT = /^((\d+\.\d+\.\d+\.\d+|\[[\da-fA-F:.]+\]):)?((\d+)?:)?\d+(\/(tcp|udp|sctp))?$/;
const RESTART_POLICY = /^(no|always|unless-stopped|on-failure(:\d{1,9})?)$/;

/** Checks constant values; those with variables are checked by Docker. */
function valueProblems(container: RawContainer, scope: Scope): Problem[] {
  const { volumes = [], ports = [], restartPolicy, logPattern, healthcheck = {} } = container;
  const spans = (['interval', 'timeout', 'startPeriod'] as const).filter((key) => healthcheck[key] !== undefined);
  const badPattern = logPattern === undefined ? null : patternProblem(logPattern);
  return [
    ...volumes.flatMap((text, index) => {
      if (text.includes('$') || VOLUME.test(text)) return [];
      return [wrong(scope, ['volumes', index], `"${text}" is not a volume such as ./data:/data or cache:/data:ro`)];
    }),
    ...ports.flatMap((text, index) => {
      if (text.includes('$') || PORT.test(text)) return [];
      return [wrong(scope, ['ports', index], `"${text}" is not a port such as 8080:80 or 0.0.0.0:8080:80`)];
    }),
    ...(restartPolicy === undefined || RESTART_POLICY.test(restartPolicy)
      ? []
      : [wrong(scope, ['restartPolicy'], `"${restartPolicy}" is not a restart policy of Docker`)]),
    ...(badPattern === null ? [] : [wrong(scope, ['logPattern'], `invalid pattern: ${badPattern}`)]),
    ...spans.flatMap((key) => {
      const text = healthcheck[key] ?? '';
      return parseSpan(text) === null
        ? [wrong(scope, ['healthcheck', key], `"${text}" is not a duration such as 5s or 1m30s`)]
        : [];
    }),
  ];
}

function wrong({ file, path, what }: Place, key: Path, message: string): Problem {
  return problem('wrong-value', spotIn(file, [...path, ...key]), `${what}: ${message}`);
}

function conflict({ file }: Scope, path: Path, message: string): Problem {
  return problem('conflicting-keys', spotIn(file, path, 'key'), message);
}

/** Keys of steps that end by themselves. */
const OF_ENDING_STEPS = ['run', 'output', 'timeoutSec', 'repeatPolicy', 'approval'] as const;

/** Checks the `service` of a step. `isInside`: the workflow has a container for its steps. */
export function backgroundProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  const { service } = raw;
  if (!isService(raw)) return [];
  const type = executorType(raw);
  const others = OF_ENDING_STEPS.filter((key) => raw[key] !== undefined);
  const problems = others.map((key) =>
    problem('conflicting-keys', spotIn(file, [...path, key], 'key'), `${what} is a service, which takes no "${key}"`),
  );
  if (type !== 'command' && type !== 'docker') {
    const help = 'A service is a command or a script, on this machine or in a container.';
    const message = `${what}: an ${type} step cannot be a service`;
    problems.push(problem('conflicting-keys', spotIn(file, [...path, 'service'], 'key'), message, { help }));
  }
  const readyWhen = typeof service === 'object' ? service.readyWhen : undefined;
  const scope = { file, path: [...path, 'service', 'readyWhen'], what };
  return readyWhen === undefined ? problems : [...problems, ...readyProblems(readyWhen, scope)];
}

function readyProblems(readyWhen: NonNullable<RawService['readyWhen']>, scope: Place): Problem[] {
  const { port, http, line, healthy } = readyWhen;
  const problems: Problem[] = [];
  const count = Object.keys(readyWhen).filter((key) => !/^x-/i.test(key)).length;
  if (count !== 1) {
    const help = 'Write one of command, port, http, line, healthy.';
    problems.push({ ...wrong(scope, [], `"readyWhen" has ${count} conditions`), help });
  }
  if (port !== undefined && !isPort(port))
    problems.push(wrong(scope, ['port'], `"${port}" is not a port such as 5432 or localhost:5432`));
  if (http !== undefined && !isUrl(http))
    problems.push(wrong(scope, ['http'], `"${http}" is not a URL such as http://localhost:8080/`));
  const bad = line?.startsWith('re:') ? patternProblem(line.slice('re:'.length)) : null;
  if (bad !== null) problems.push({ ...wrong(scope, ['line'], `invalid pattern: ${bad}`), code: 'invalid-pattern' });
  if (healthy === false) problems.push(wrong(scope, ['healthy'], '"healthy" can only be true'));
  return problems;
}

/** A text with variables is checked when it is used. */
function isPort(text: string): boolean {
  const [, port] = /^(?:.+:)?(\d{1,5})$/.exec(text) ?? [];
  return text.includes('$') || (Number(port) >= 1 && Number(port) <= 65535);
}

function isUrl(text: string): boolean {
  return text.includes('$') || (/^https?:\/\//i.test(text) && URL.canParse(text));
}

/** Checks the inputs of an approval. */
export function approvalProblems(entry: ActionEntry): Problem[] {
  const { approval } = entry.raw;
  if (approval === true) return contextProblems(entry);
  if (typeof approval !== 'object') return [];
  return [...contextProblems(entry), ...inputProblems(entry), ...requiredProblems(entry)];
}

/** Keys of steps that run several times or stay up, which have no single end to ask at. */
function contextProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  const other = ['parallel', 'matrix', 'service'].find((key) => key in raw);
  if (other === undefined) return [];
  const message = `${what} has both "${other}" and "approval"`;
  const related = [{ spot: spotIn(file, [...path, other], 'key'), message: `"${other}" is given here` }];
  const help = 'Use a separate step for the approval, and let one of the two depend on the other.';
  return [problem('conflicting-keys', spotIn(file, [...path, 'approval'], 'key'), message, { related, help })];
}

function inputProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  const { input: written } = typeof raw.approval === 'object' ? raw.approval : {};
  const names = new Set<string>();
  const inputs = entriesAt<string | OpenTextMap>(written, [...path, 'approval', 'input']);
  return inputs.flatMap(({ path: inputPath, entry: input }) => {
    const name = inputName(input);
    const isTaken = names.has(name);
    names.add(name);
    if (!VARIABLE_NAME.test(name)) {
      const help = 'A name has only letters, digits and "_", and does not start with a digit.';
      return [problem('invalid-name', spotIn(file, inputPath), `"${name}" is not the name of an input`, { help })];
    }
    if (STEERING_NAME.test(name)) {
      const message = `the input "${name}" would change how later programs run`;
      return [problem('reserved-name', spotIn(file, inputPath), message, { help: 'Choose another name.' })];
    }
    if (isTaken) return [problem('wrong-value', spotIn(file, inputPath), `two inputs of ${what} are named "${name}"`)];
    if (typeof input === 'string') return [];
    const subject = `input "${name}"`;
    const [evaluated] = evaluatedTexts(input);
    if (evaluated === undefined)
      return isDeclaration(input) ? declarationProblems(file, inputPath, subject, input) : [];
    const message = `${subject}: "eval" is for parameters; write "default"`;
    return [problem('wrong-value', spotIn(file, [...inputPath, evaluated[0]]), message)];
  });
}

/** `required` names inputs; without a person to ask, each of them needs a default. */
function requiredProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  const approval = typeof raw.approval === 'object' ? raw.approval : {};
  const inputs = inputsOf(approval);
  const names = inputs.map(inputName);
  const required = textsIn(approval.required, [...path, 'approval', 'required']);
  const unknown = required.flatMap(({ path: at, text: name }) => {
    if (names.includes(name)) return [];
    const label = didYouMean(nearNames(name, names));
    return [problem('wrong-value', spotIn(file, at), `"${name}" is not an input of ${what}`, { label })];
  });
  if (unknown.length > 0 || approval.onTimeout !== 'approve') return unknown;
  const open = inputs.find((input) => {
    const { value, rule } = typeof input === 'string' ? { value: '' } : declaredRule(input);
    return value === '' && (rule?.required === true || asList(approval.required).includes(inputName(input)));
  });
  if (open === undefined) return [];
  const message = `${what} is approved without the input "${inputName(open)}", which is required`;
  const help = `Give "${inputName(open)}" a "default", or write "onTimeout: reject".`;
  return [problem('conflicting-keys', spotIn(file, [...path, 'approval', 'onTimeout']), message, { help })];
}
