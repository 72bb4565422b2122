import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildSync } from 'esbuild';
import { onTestFinished } from 'vitest';
import { temporaryDirectory } from './world.ts';

/** Builds one of `programs/` for the duration of the test; returns the path of a file that node can run. */
export function buildProgram(name: string): string {
  const outfile = join(temporaryDirectory(), `${name}.mjs`);
  const entry = join(import.meta.dirname, 'programs', `${name}.ts`);
  buildSync({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'error',
  });
  return outfile;
}

/** A running program, its lines as they arrive, and its end. It is killed after the test. */
export type Running = {
  readonly child: ChildProcess;
  readonly lines: AsyncIterator<string>;
  readonly ended: Promise<unknown>;
};

/** Starts a program with pipes for standard input and output; its errors are shown. */
export function start(file: string, args: readonly string[]): Running {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, lines, ended: once(child, 'close') };
}
