import { isService } from '../../build/build-service.ts';
import { type Path, type Problem, problem } from '../../problem.ts';
import { executorType } from '../../raw.ts';
import { spotIn } from '../../read/spec-file.ts';
import { patternProblem } from '../pattern.ts';
import type { ActionEntry } from './action-entries.ts';

/** Keys of steps that end by themselves. */
const OF_ENDING_STEPS = ['run', 'output', 'timeoutSec', 'repeatPolicy', 'approval'] as const;

/** Checks the `service` of a step. `isInside`: the workflow has a container for its steps. */
export function serviceProblems({ file, path, raw, what }: ActionEntry): Problem[] {
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
    problems.push(
      problem('conflicting-keys', at(['service'], 'key'), `${what}: an ${type} step cannot be a service`, { help }),
    );
  }
  if (isGiven && keys.length !== 1) {
    const help = 'Write one of command, port, http, line, healthy.';
    problems.push(
      problem('wrong-value', at(['service', 'readyWhen']), `${what}: "readyWhen" has ${keys.length} conditions`, {
        help,
      }),
    );
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
    problems.push(
      problem('wrong-value', at(['service', 'readyWhen', 'healthy']), `${what}: "healthy" can only be true`),
    );
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
