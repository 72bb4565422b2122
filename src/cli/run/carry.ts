import { closeSync, writeSync } from 'node:fs';
import { readConfig } from '#config/config.ts';
import { given } from '#core/data/collections.ts';
import { allSteps } from '#core/workflow.ts';
import type { RunHost, RunWatcher } from '#engine/engine.ts';
import { keepProcessSmall } from '#fast/small-process.ts';
import { type CarrierReport, type ClaimedRun, claimRun } from '#service/start-runs.ts';
import { messageOf, WfError } from '#system/errors.ts';
import { configFor } from '../reference.ts';
import type { Console } from '../terminal/console.ts';
import { runInForeground } from './foreground.ts';

/** The options of `wf carry`, which other processes of `wf` start. */
export type CarryOptions = {
  readonly runId: string;
  readonly runs: string;
  /** The descriptor of the pipe at which the caller waits for the report of the start; absent: it does not wait. */
  readonly report?: number;
};

/**
 * When a run has nothing left to start, its process gets a tenth of the processor time of others: hundreds of runs may end
 * at once, and the daemon must answer meanwhile. Steps keep their priority.
 */
const RESTING_BY = 10;

/** Takes a waiting run and runs it to its end. */
export async function carryCommand(options: CarryOptions, console: Console): Promise<number> {
  const { report: fd } = options;
  let isTold = fd === undefined;
  const tell = (message: CarrierReport) => {
    // After the first report the descriptor may belong to another file.
    if (fd !== undefined && !isTold) report(message, fd);
    isTold = true;
  };
  try {
    return await carry(options, () => tell({ owned: true }), console);
  } catch (error) {
    const { code, help } = error instanceof WfError ? error : { code: 'storage' as const, help: null };
    tell({ owned: false, code, message: messageOf(error), help });
    throw error;
  }
}

async function carry({ runId, runs }: CarryOptions, owned: () => void, console: Console): Promise<number> {
  const { enterRunGroup, lowerPriority } = await import('#app/app.ts');
  const { createControl } = await import('#app/history-app.ts');
  const claimed = await claimRun(runId, createControl({ ...configFor({}), runsDir: runs }));
  const { request, context } = claimed.launch;
  // A sub-workflow may keep its processes: its file is read only when its step starts.
  const spares = allSteps(request.workflow).some((step) => step.leaveBackground || step.executor.type === 'workflow');
  const group = context.isDaemon ? enterRunGroup(runId, { spares }) : null;
  let isOwned = false;
  const start = (host: RunHost, watcher: RunWatcher) => {
    const run = host.carry(request, claimed.taken, (event, state) => {
      // Until then a run whose carrier dies starts again.
      if (event.type === 'run.started') claimed.begun();
      watcher(event, state);
    });
    isOwned = true;
    owned();
    return run;
  };
  try {
    const collectGarbage = await keepProcessSmall(request.sources.reduce((sum, { text }) => sum + text.length, 0));
    collectGarbage();
    const shown = { ...request, warnings: [] };
    const config = { ...configOf(context), runsDir: runs };
    // A child run rests before its parent does.
    const rest = (resting: string) => {
      if (resting === runId) lowerPriority(RESTING_BY);
    };
    const forDaemon = context.isDaemon ? { forDaemon: runId, rest } : {};
    return await runInForeground({ request: shown, config, carry: start, group, ...forDaemon }, {}, console);
  } catch (error) {
    if (!isOwned) await claimed.refuse(messageOf(error));
    throw error;
  } finally {
    group?.leave();
  }
}

/** The configuration of the requester, for a run without a terminal. */
function configOf({ env, cwd, dags, isDaemon }: ClaimedRun['launch']['context']): ReturnType<typeof readConfig> {
  const flags = { reporter: ['quiet'], history: true, ...given({ dags }) };
  return readConfig({ ...env }, cwd, flags, { isDaemon });
}

/** The process that started this one may have exited; the run continues without it. */
function report(message: CarrierReport, fd: number): void {
  try {
    writeSync(fd, `${JSON.stringify(message)}\n`);
    // The programs of the run must not inherit the pipe.
    closeSync(fd);
  } catch {
    // The reader has gone.
  }
}
