import type { ProcessIdentity } from '#core/run/run.ts';
import { os } from '#start-up/os.ts';
import { identityOf } from '../process-identity.ts';
import { processPlace } from '../process-place.ts';
import type { FailedStart, OutputFiles, ProcessEnd } from '../started-process.ts';

/** A program for a starter, by path, with the files its output is appended to. */
export type ProgramStart = OutputFiles & {
  readonly path: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

/** A report of the shared starter: a word and up to three numbers. */
export type Report = {
  readonly word: 'started' | 'failed' | 'refused' | 'ended' | 'flushed';
  readonly first: number;
  readonly second: number;
  readonly third: number;
};

/** Parses a line of the shared starter, which prints no others. */
export function parseReport(line: string): Report {
  const [word, first = 0, second = 0, third = 0] = line.split(' ');
  return { word: word as Report['word'], first: Number(first), second: Number(second), third: Number(third) };
}

/** Identifies a process by its number and its start time in clock ticks since boot; negative: unknown. */
export function startedProcess(pid: number, startTime: number): ProcessIdentity {
  return identityOf(pid, processPlace().hasOwnProc && startTime >= 0 ? startTime : null);
}

/** Decodes a wait status: the signal in the low seven bits, else the exit code in the next eight. */
export function endOf(status: number): ProcessEnd {
  const number = status & 0x7f;
  const signal = number === 0 ? null : nameOf(number, os().constants.signals);
  return { code: signal === null ? status >> 8 : null, signal: signal as NodeJS.Signals | null };
}

/** The failure with this number of a system error. */
export function failureOf(errno: number): FailedStart {
  const code = nameOf(errno, os().constants.errno) ?? 'EIO';
  return { error: Object.assign(new Error(code), { code }) };
}

/** The name that Node gives to a number: of two names the first, as in `SIGABRT` and `SIGIOT`. */
function nameOf(wanted: number, numbers: Readonly<Record<string, number>>): string | null {
  const found = Object.entries(numbers).find(([, number]) => number === wanted);
  return found?.[0] ?? null;
}

/** The texts of a request to a starter whose programs usually have the environment `usual`. */
export function requestOf(
  { path, argv, cwd, env, stdoutPath, stderrPath }: ProgramStart,
  usual: Readonly<Record<string, string>>,
): readonly string[] {
  return [cwd, stdoutPath, stderrPath, path, String(argv.length), ...argv, ...changes(usual, env)];
}

/** Differences between two environments: `NAME=value`, or `NAME` for a variable to remove. */
function changes(from: Readonly<Record<string, string>>, to: Readonly<Record<string, string>>): readonly string[] {
  const changed: string[] = [];
  let kept = 0;
  for (const name in to) {
    const before = from[name];
    if (typeof before === 'string') kept += 1;
    if (to[name] !== before) changed.push(`${name}=${to[name]}`);
  }
  // Rare, and checking every name would be expensive.
  if (kept < Object.keys(from).length) for (const name in from) if (!Object.hasOwn(to, name)) changed.push(name);
  return changed;
}
