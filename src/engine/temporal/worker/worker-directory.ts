import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ProcessIdentity } from '#core/run/run.ts';
import { isMissing, tryOr, WfError } from '#system/errors.ts';
import { endRun, type RunEnders } from './guard.ts';

const OWNER = 'worker.json';
/** Logs of which only the end was sent stay for so long. */
const KEEP_MS = 7 * 24 * 60 * 60 * 1000;

/** How the processes of workers are recognized and ended. */
export type DirectoryTools = {
  readonly own: ProcessIdentity;
  readonly isAlive: (process: ProcessIdentity) => boolean;
  readonly processes: RunEnders;
};

/** The directory of a worker, and what earlier workers there left behind. */
export type WorkerDirectory = {
  readonly directoryOf: (runId: string) => string;
  /** The processes of dead workers that were ended. */
  readonly ended: number;
  /** The directories of runs that dead workers have left. */
  readonly left: readonly string[];
  readonly leave: () => void;
};

/**
 * Takes the directory of a worker by its name, below one that workers of this machine share; ends the processes of those that
 * died. Throws a `WfError` `conflict` while a worker of that name runs here.
 */
export async function enterDirectory(shared: string, name: string, tools: DirectoryTools): Promise<WorkerDirectory> {
  let ended = 0;
  const left: string[] = [];
  mkdirSync(shared, { recursive: true, mode: 0o700 });
  for (const other of readdirSync(shared)) {
    const owner = readOwner(join(shared, other));
    if (owner !== null && tools.isAlive(owner)) {
      if (other !== name) continue;
      throw new WfError('conflict', `the worker "${name}" runs already, as process ${owner.pid}`, {
        help: 'give this one another name: --name',
      });
    }
    const found = await endLeftovers(join(shared, other), tools.processes);
    ended += found.ended;
    left.push(...found.left);
  }
  const directory = join(shared, name);
  mkdirSync(join(directory, 'runs'), { recursive: true, mode: 0o700 });
  writeFileSync(join(directory, OWNER), JSON.stringify(tools.own), { mode: 0o600 });
  return {
    directoryOf: (runId) => join(directory, 'runs', runId),
    ended,
    left,
    leave: () => rmSync(join(directory, OWNER), { force: true }),
  };
}

function readOwner(directory: string): ProcessIdentity | null {
  try {
    return JSON.parse(readFileSync(join(directory, OWNER), 'utf8')) as ProcessIdentity;
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Ends the processes of the runs in the directory of a dead worker, and removes old files. */
async function endLeftovers(directory: string, processes: RunEnders): Promise<Pick<WorkerDirectory, 'ended' | 'left'>> {
  const runs = join(directory, 'runs');
  let ended = 0;
  const left: string[] = [];
  for (const runId of tryOr([], () => readdirSync(runs))) {
    const path = join(runs, runId);
    ended += await endRun({ mark: { runId, logs: join(path, 'logs') }, leaders: [] }, processes);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age > KEEP_MS) rmSync(path, { recursive: true, force: true });
    else left.push(path);
  }
  rmSync(join(directory, OWNER), { force: true });
  return { ended, left };
}
