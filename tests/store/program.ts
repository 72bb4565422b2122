import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildSync } from 'esbuild';
import { onTestFinished } from 'vitest';
import { temporaryDirectory } from './world.ts';

/** Translates one of `programs/` for as long as the test runs; answers the path of a file that node can run. */
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

/** A program that is running, its lines as they come, and its end. It is killed with the test at the latest. */
export type Running = {
  readonly child: ChildProcess;
  readonly lines: AsyncIterator<string>;
  readonly ended: Promise<unknown>;
};

/** Starts a program with standard input and output to talk to it; errors are shown. */
export function start(file: string, args: readonly string[]): Running {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return { child, lines, ended: once(child, 'close') };
}
