import { tryOr } from '#system/errors.ts';
import type { ProcessEnd, Program } from './started-program.ts';

/** The release line whose last release is out: its undocumented parts stay as they are. */
const KNOWN_LINE = '20.';

/**
 * A part of Node that its own modules are built on, by name; null if this Node has none, or forbids it. Null in other
 * release lines than 20, too: any release may change such a part (24.20 changed how a process is started), and a call in
 * the earlier form aborts the process. If Node is to warn about interfaces that may go, it replaces the function by one
 * of another name, which warns.
 */
export function nodeInternals(name: 'process_wrap' | 'stream_wrap'): { readonly [name: string]: unknown } | null {
  if (!process.versions.node.startsWith(KNOWN_LINE)) return null;
  const binding: unknown = Reflect.get(process, 'binding');
  if (typeof binding !== 'function' || binding.name !== 'binding') return null;
  return tryOr(null, () => Reflect.apply(binding, process, [name]));
}

/** The part of Node's class `Process` that is used here; `node:child_process` uses the same. */
type Handle = {
  readonly pid: number;
  /** The signal is empty if there was none. */
  onexit: (code: number, signal: string) => void;
  /** Returns 0, or the negative number of an error. */
  readonly spawn: (options: object) => number;
  readonly unref: () => void;
  readonly close: () => void;
};

/**
 * Starts a program in its own session and group, with /dev/null as input and its output appended to open files. Uses the
 * handle beneath `node:child_process`, since loading that module with its sockets and streams, and preparing each start,
 * takes 3 ms: a twentieth of a run of one step. Returns null if this Node does not offer the handle, or if the program
 * cannot be started: `child_process` then does the same, or has the error.
 */
export function startByHandle(program: Program, [stdout, stderr]: readonly [number, number]) {
  const Process = hasUnusableText(program) ? null : processClass();
  if (Process === null) return null;
  const handle = new Process();
  const ended = new Promise<ProcessEnd>((resolve) => {
    handle.onexit = (code, signal) => {
      handle.close();
      resolve(signal === '' ? { code, signal: null } : { code: null, signal: signal as NodeJS.Signals });
    };
  });
  const { argv, cwd, env } = program;
  const envPairs = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const stdio = [{ type: 'ignore' }, { type: 'fd', fd: stdout }, { type: 'fd', fd: stderr }];
  if (handle.spawn({ file: argv[0], args: argv, cwd, envPairs, detached: true, stdio }) !== 0) {
    handle.close();
    return null;
  }
  return { pid: handle.pid, ended, abandon: () => handle.unref() };
}

/** Whether a text cannot be passed on, which the handle does not check. */
function hasUnusableText({ argv, cwd, env }: Program): boolean {
  const hasNul = (text: string) => text.includes('\0');
  if (argv[0] === undefined || argv[0] === '' || argv.some(hasNul) || hasNul(cwd)) return true;
  for (const name in env) if (hasNul(name) || hasNul(env[name] ?? '')) return true;
  return false;
}

/** The class of the handle; null if this Node does not offer it. */
function processClass(): (new () => Handle) | null {
  const { Process } = nodeInternals('process_wrap') ?? {};
  return typeof Process === 'function' ? (Process as new () => Handle) : null;
}
