import { parseSpan } from '#core/time-text.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import { patternProblem } from '#system/pattern.ts';
import { inputName, inputsOf, isService } from '../build/build-step.ts';
import { declaredRule, evaluatedTexts, isDeclaration } from '../declared-params.ts';
import { type Path, type Problem, problem } from '../diagnostic.ts';
import { asList, executorType, type OpenTextMap, type RawContainer, STEERING_NAME, VARIABLE_NAME } from '../raw.ts';
import { type ActionEntry, type SpecFile, spotIn } from '../read/spec-file.ts';
import { type DeclarationEntry, declarationProblems } from './check-params.ts';

/** A container in the file: `what` names its owner in messages. `isShared`: it starts before the commands in it. */
type Scope = { readonly file: SpecFile; readonly path: Path; readonly what: string; readonly isShared: boolean };

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

function wrong({ file, path, what }: Scope, key: Path, message: string): Problem {
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
  const at = (key: Path, part: 'key' | 'value' = 'value') => spotIn(file, [...path, ...key], part);
  const others = OF_ENDING_STEPS.filter((key) => raw[key] !== undefined);
  const readyWhen = (typeof service === 'object' ? service.readyWhen : undefined) ?? {};
  const keys = Object.keys(readyWhen).filter((key) => !/^x-/i.test(key));
  const isGiven = typeof service === 'object' && service.readyWhen !== undefined;
  const bad = readyWhen.line?.startsWith('re:') ? patternProblem(readyWhen.line.slice('re:'.length)) : null;
  const problems = others.map((key) =>
    problem('conflicting-keys', at([key], 'key'), `${what} is a service, which takes no "${key}"`),
  );
  if (type !== 'command' && type !== 'docker') {
    const help = 'A service is a command or a script, on this machine or in a container.';
    const message = `${what}: an ${type} step cannot be a service`;
    problems.push(problem('conflicting-keys', at(['service'], 'key'), message, { help }));
  }
  if (isGiven && keys.length !== 1) {
    const help = 'Write one of command, port, http, line, healthy.';
    const message = `${what}: "readyWhen" has ${keys.length} conditions`;
    problems.push(problem('wrong-value', at(['service', 'readyWhen']), message, { help }));
  }
  if (readyWhen.port !== undefined && !isPort(readyWhen.port)) {
    const message = `${what}: "${readyWhen.port}" is not a port such as 5432 or localhost:5432`;
    problems.push(problem('wrong-value', at(['service', 'readyWhen', 'port']), message));
  }
  if (readyWhen.http !== undefined && !isUrl(readyWhen.http)) {
    const message = `${what}: "${readyWhen.http}" is not a URL such as http://localhost:8080/`;
    problems.push(problem('wrong-value', at(['service', 'readyWhen', 'http']), message));
  }
  if (bad !== null)
    problems.push(problem('invalid-pattern', at(['service', 'readyWhen', 'line']), `${what}: invalid pattern: ${bad}`));
  if (readyWhen.healthy === false) {
    const message = `${what}: "healthy" can only be true`;
    problems.push(problem('wrong-value', at(['service', 'readyWhen', 'healthy']), message));
  }
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
  const { approval } = raw;
  const isList = typeof approval === 'object' && Array.isArray(approval.input);
  const names = new Set<string>();
  return inputsOf(approval).flatMap((input, index) => {
    const inputPath = [...path, 'approval', 'input', ...(isList ? [index] : [])];
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
    return typeof input === 'string'
      ? []
      : inputFaults({ file, path: inputPath, what: `input "${name}"`, entry: input });
  });
}

function inputFaults(declaration: DeclarationEntry): Problem[] {
  const { file, path, what, entry } = declaration;
  const [evaluated] = evaluatedTexts(entry);
  if (evaluated === undefined) return isDeclaration(entry) ? declarationProblems(declaration) : [];
  const message = `${what}: "eval" is for parameters; write "default"`;
  return [problem('wrong-value', spotIn(file, [...path, evaluated[0]]), message)];
}

/** `required` names inputs; without a person to ask, each of them needs a default. */
function requiredProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  const approval = typeof raw.approval === 'object' ? raw.approval : {};
  const inputs = inputsOf(approval);
  const names = inputs.map(inputName);
  const unknown = asList(approval.required).flatMap((name, index) => {
    if (names.includes(name)) return [];
    const inputPath = [...path, 'approval', 'required', ...(Array.isArray(approval.required) ? [index] : [])];
    const label = didYouMean(nearNames(name, names));
    return [problem('wrong-value', spotIn(file, inputPath), `"${name}" is not an input of ${what}`, { label })];
  });
  if (unknown.length > 0 || approval.onTimeout !== 'approve') return unknown;
  const open = inputs.find((input) => isOpen(input, asList(approval.required)));
  if (open === undefined) return [];
  const message = `${what} is approved without the input "${inputName(open)}", which is required`;
  const help = `Give "${inputName(open)}" a "default", or write "onTimeout: reject".`;
  return [problem('conflicting-keys', spotIn(file, [...path, 'approval', 'onTimeout']), message, { help })];
}

function isOpen(input: string | OpenTextMap, required: readonly string[]): boolean {
  const { value, rule } =
    typeof input === 'string' ? { value: '', rule: { required: undefined } } : declaredRule(input);
  return value === '' && (rule.required === true || required.includes(inputName(input)));
}
