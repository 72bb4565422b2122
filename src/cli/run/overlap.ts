import { setTimeout as sleep } from 'node:timers/promises';
import { escapeControls, shortId } from '#render/text.ts';
import { anyRun, type History, type PastRun } from '#service/history.ts';
import { WfError } from '#system/errors.ts';
import type { Console } from '../terminal/console.ts';
import type { PreparedRun } from './prepare-run.ts';

/** The time after which a start looks again, while another process starts a run of the workflow. */
const POLL_MS = 100;

/**
 * Claims the start of a run while no other run of its workflow is active. Resolves to the function that releases the claim once
 * the run has been started; null if it is skipped. Throws a `WfError` `usage` for a run that would wait for itself.
 */
export async function claimTurn(
  { request, config }: PreparedRun,
  overlap: 'skip' | 'wait',
  { err }: Pick<Console, 'err'>,
): Promise<(() => void) | null> {
  const { claimStart, createPast } = await import('#app/history-app.ts');
  const { history } = createPast(config);
  const { file, name } = request.workflow;
  const key = file ?? name;
  for (let printed: string | null = null; ; ) {
    const release = await claimStart(key, config);
    const active = await activeRun(key, history);
    if (active === null && release !== null) return release;
    release?.();
    if (active === null) await sleep(POLL_MS);
    else if (overlap === 'skip') {
      err.write(`wf: skipped: ${activeText(active)} (--overlap allow starts it all the same)\n`);
      return null;
    } else {
      if (active.runId === config.processEnv['WF_RUN_ID']) throw waitsForItself(active);
      if (printed !== active.runId) err.write(`wf: waiting: ${activeText(active)}\n`);
      printed = active.runId;
      await untilFinished(active, history);
    }
  }
}

async function activeRun(workflow: string, history: Pick<History, 'list'>): Promise<PastRun | null> {
  for await (const run of history.list({ ...anyRun, workflow, limit: 1, active: true })) return run;
  return null;
}

/** A run whose process died is settled by the next look. */
async function untilFinished(run: PastRun, history: Pick<History, 'follow'>): Promise<void> {
  for await (const _ of history.follow(run, new AbortController().signal));
}

function activeText({ runId, state }: PastRun): string {
  return `run ${shortId(runId)} of "${escapeControls(state.workflow)}" is active`;
}

function waitsForItself(active: PastRun): WfError {
  return new WfError('usage', `a step of ${activeText(active).replace(' is active', '')} cannot wait for its own run`, {
    help: 'use --overlap allow',
  });
}
