import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { eventually, journalOf, untilGone } from '../support/background-runs.ts';
import { withDaemons } from '../support/daemon.ts';
import { loweredBy, sessionPriority } from '../support/priorities.ts';

const step = "steps:\n  - name: one\n    command: sh -c 'echo $$ > draft; mv draft pid; exec sleep 300'\n";
const files = {
  'last.yaml': step,
  'retried.yaml': `${step}    retryPolicy:\n      limit: 1\n      intervalSec: 0\n`,
  'masked.yaml': `env:\n  - WORD: a-long-secret\nsecrets: [WORD]\n${step}`,
};

type Pids = { readonly carrier: number; readonly program: number };

/** Uses a run while the program of its only step runs. */
function withRun(workflow: string, use: (pids: Pids) => Promise<void>): Promise<void> {
  return withDaemons(files, async (place) => {
    const daemon = await place.serve();
    const runId = `run-${randomUUID()}`;
    await daemon.act(workflow, { action: 'start', 'request-id': runId });
    await eventually(() => existsSync(join(place.cwd, 'pid')));
    await eventually(() => journalOf(place, runId).some(({ type }) => type === 'step.started'));
    const { owner } = await place.json<RunSummary>('status', runId);
    const carrier = owner?.pid ?? 0;
    try {
      await use({ carrier, program: Number(readFileSync(join(place.cwd, 'pid'), 'utf8')) });
    } finally {
      await place.wf('stop', runId);
      await untilGone(carrier);
      await daemon.end('SIGTERM');
    }
  });
}

test('the process of a run has a low priority while its last program runs, and the program the usual one', () =>
  withRun('last', async ({ carrier, program }) => {
    await eventually(() => getPriority(carrier) === loweredBy(10));
    expect([getPriority(program), sessionPriority(program)]).toEqual([getPriority(), '0']);
  }));

test.each(['retried', 'masked'])('it keeps its priority while it may start or pass on more: %s', (workflow) =>
  withRun(workflow, async ({ carrier, program }) => {
    expect([carrier, program].map(getPriority)).toEqual([getPriority(), getPriority()]);
  }),
);
