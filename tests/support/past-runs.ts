import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RunSummary } from '#core/summary/summary.ts';
import { type Ended, type RunningWf, startWf, wf, withDirectory } from './wf.ts';

/** A directory with a home of its own, in which `wf` is run. */
export type Place = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly runsDir: string;
  readonly write: (name: string, text: string) => void;
  readonly wf: (...args: readonly string[]) => Promise<Ended>;
  readonly start: (...args: readonly string[]) => RunningWf;
  /** What `wf <args> --json` prints. */
  readonly json: <T = RunSummary>(...args: readonly string[]) => Promise<T>;
};

/** Uses a place and removes it. `node` runs `wf` there, as a path or a name. */
export function withPlace<T>(
  files: Readonly<Record<string, string>>,
  use: (place: Place) => Promise<T>,
  node = process.execPath,
): Promise<T> {
  return withDirectory((cwd) => {
    const options = { cwd, env: { WF_HOME: join(cwd, 'home') }, node };
    const write = (name: string, text: string) => {
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      writeFileSync(join(cwd, name), text);
    };
    for (const [name, text] of Object.entries(files)) write(name, text);
    return use({
      ...options,
      runsDir: join(cwd, 'home/runs'),
      write,
      wf: (...args) => wf(args, options),
      start: (...args) => startWf(args, options),
      json: async (...args) => JSON.parse((await wf([...args, '--json'], options)).stdout),
    });
  });
}

/** Starts a run and kills its process as a crash would, once it has printed the text. */
export async function crash({ start }: Place, text: string, ...args: readonly string[]): Promise<void> {
  const run = start('run', ...args);
  await run.until(text);
  run.kill('SIGKILL');
  await run.ended;
}
