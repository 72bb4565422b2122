import { parseSpan } from '#core/time-text.ts';
import { isService } from '../../build/build-service.ts';
import { type Path, type Problem, problem } from '../../problem.ts';
import type { RawContainer } from '../../raw.ts';
import { type SpecFile, spotIn } from '../../read/spec-file.ts';
import { patternProblem } from '../pattern.ts';
import type { ActionEntry } from './action-entries.ts';

/** A container in the file: `what` names its owner in messages. `isShared`: it starts before the commands in it. */
type Place = { readonly file: SpecFile; readonly path: Path; readonly what: string; readonly isShared: boolean };

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
  const place = { file, path: [...path, 'container'], what, isShared: isService(raw) };
  const isRunning = typeof container === 'string' || container.exec !== undefined;
  const isIdle = isRunning && works.every((key) => raw[key] === undefined);
  return [
    ...(isIdle ? [problem('missing-key', spotIn(file, path), `${what} has nothing to run in the container`)] : []),
    ...(other === undefined ? [] : [conflict(place, [...path, other], `${what} has both "container" and "${other}"`)]),
    ...containerProblems(container, place),
  ];
}

/** Checks the container of the workflow. */
export function sharedContainerProblems(file: SpecFile): Problem[] {
  const { container } = file.raw;
  const place = { file, path: ['container'], what: 'the workflow', isShared: true };
  return container === undefined ? [] : containerProblems(container, place);
}

/** Checks a container by itself. */
function containerProblems(container: string | RawContainer, place: Place): Problem[] {
  const { file, path, what, isShared } = place;
  if (typeof container === 'string') {
    return container.trim() === '' ? [wrong(place, [], 'the name of the container is empty')] : [];
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
      conflict(place, [...path, key], `${what}: "exec" runs in a running container, so "${key}" has no effect`),
    );
  }
  const early = isShared ? [] : OF_SHARED.filter((key) => container[key] !== undefined);
  return [
    ...early.map((key) =>
      conflict(place, [...path, key], `${what}: "${key}" belongs to the container of the workflow or of a service`),
    ),
    ...(startup === 'command' && command === undefined
      ? [problem('missing-key', spotIn(file, [...path, 'startup']), `${what}: "startup: command" needs "command"`)]
      : []),
    ...(command !== undefined && startup !== undefined && startup !== 'command'
      ? [conflict(place, [...path, 'command'], `${what}: "startup: ${startup}" does not use "command"`)]
      : []),
    ...valueProblems(container, place),
  ];
}

const VOLUME = /^[^:]+:\/[^:]*(:[a-zA-Z,]+)?$/;
const PORT = /^((\d+\.\d+\.\d+\.\d+|\[[\da-fA-F:.]+\]):)?((\d+)?:)?\d+(\/(tcp|udp|sctp))?$/;
const RESTART_POLICY = /^(no|always|unless-stopped|on-failure(:\d{1,9})?)$/;

/** Checks constant values; those with variables are checked by Docker. */
function valueProblems(container: RawContainer, place: Place): Problem[] {
  const { volumes = [], ports = [], restartPolicy, logPattern, healthcheck = {} } = container;
  const spans = (['interval', 'timeout', 'startPeriod'] as const).filter((key) => healthcheck[key] !== undefined);
  const badPattern = logPattern === undefined ? null : patternProblem(logPattern);
  return [
    ...volumes.flatMap((text, index) => {
      if (text.includes('$') || VOLUME.test(text)) return [];
      return [wrong(place, ['volumes', index], `"${text}" is not a volume such as ./data:/data or cache:/data:ro`)];
    }),
    ...ports.flatMap((text, index) => {
      if (text.includes('$') || PORT.test(text)) return [];
      return [wrong(place, ['ports', index], `"${text}" is not a port such as 8080:80 or 0.0.0.0:8080:80`)];
    }),
    ...(restartPolicy === undefined || RESTART_POLICY.test(restartPolicy)
      ? []
      : [wrong(place, ['restartPolicy'], `"${restartPolicy}" is not a restart policy of Docker`)]),
    ...(badPattern === null ? [] : [wrong(place, ['logPattern'], `invalid pattern: ${badPattern}`)]),
    ...spans.flatMap((key) => {
      const text = healthcheck[key] ?? '';
      return parseSpan(text) === null
        ? [wrong(place, ['healthcheck', key], `"${text}" is not a duration such as 5s or 1m30s`)]
        : [];
    }),
  ];
}

function wrong({ file, path, what }: Place, key: Path, message: string): Problem {
  return problem('wrong-value', spotIn(file, [...path, ...key]), `${what}: ${message}`);
}

function conflict({ file }: Place, path: Path, message: string): Problem {
  return problem('conflicting-keys', spotIn(file, path, 'key'), message);
}
