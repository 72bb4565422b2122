import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { lendCode } from './compiled-code.ts';

/** The launcher of the built program. */
export const launcher = resolve(import.meta.dirname, '../../bin/wf.js');

/** How a program ended and what it printed. */
export type Ended = {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
};

/** How to start `wf`; its home is `WF_HOME` of `env`. */
export type WfOptions = {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** What goes to standard error counts as standard output, in the order in which it comes. */
  readonly mergesErrors?: boolean;
  /** A program and its arguments that start it, such as `unshare --pid --fork`. */
  readonly through?: readonly string[];
  /** The Node that runs it, as a path or a name; without it the one that runs the tests. */
  readonly node?: string;
};

/** A started `wf`; `until` resolves once its standard output contains the text that number of times. */
export type RunningWf = {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  readonly until: (text: string, times?: number) => Promise<void>;
  /** Its standard output so far. */
  readonly printed: () => string;
  readonly kill: (signal: NodeJS.Signals) => void;
};

/** Runs the built program to its end, in a plain environment. */
export function wf(args: readonly string[], options: WfOptions = {}): Promise<Ended> {
  return startWf(args, options).ended;
}

/** The accelerators that these tests do without; see src/fast/accelerators.ts. */
export const switches: Readonly<Record<string, string>> =
  process.env['WF_WITHOUT'] === undefined ? {} : { WF_WITHOUT: process.env['WF_WITHOUT'] };

/** Starts the built program. */
export function startWf(
  args: readonly string[],
  { cwd, env = {}, input, mergesErrors = false, through = [], node = process.execPath }: WfOptions = {},
): RunningWf {
  const home = env['WF_HOME'];
  const isTraceless = args.includes('--no-history') || env['WF_HISTORY'] !== undefined;
  const keepCode = home === undefined || isTraceless ? () => {} : lendCode(resolve(cwd ?? '.', home), args);
  const [program = '', ...words] = [...through, node, launcher, ...args];
  const child = spawn(program, words, {
    ...(cwd === undefined ? {} : { cwd }),
    env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', ...switches, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  const watchers = new Set<() => void>();
  const told = (text: string) => {
    stdout += text;
    for (const look of watchers) look();
  };
  child.stdout.setEncoding('utf8').on('data', told);
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (mergesErrors) told(text);
    else stderr += text;
  });
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  const ended = new Promise<Ended>((done) =>
    child.on('close', (code, signal) => {
      keepCode();
      done({ code, signal, stdout, stderr });
    }),
  );
  const until = (text: string, times = 1) =>
    new Promise<void>((found, failed) => {
      const look = () => {
        if (stdout.split(text).length <= times) return;
        watchers.delete(look);
        found();
      };
      watchers.add(look);
      look();
      void ended.then(() => failed(new Error(`ended without "${text}":\n${stdout}${stderr}`)));
    });
  return { pid: child.pid ?? 0, ended, until, printed: () => stdout, kill: (signal) => child.kill(signal) };
}

/** Makes a temporary directory, and removes it once the function has resolved or rejected. */
export async function withDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
  // The process of a run removes its last files after the run has ended.
  const remove = () => rm(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  let result: T;
  try {
    result = await use(directory);
  } catch (error) {
    try {
      await remove();
    } catch {
      // A run that the failed test did not end still writes: report the failure of the test.
    }
    throw error;
  }
  await remove();
  return result;
}
