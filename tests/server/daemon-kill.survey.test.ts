import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { eventually, untilGone } from '../support/background-runs.ts';
import { act, type DaemonPlace, daemonUrl, withDaemons } from '../support/daemon.ts';

/** Set `WF_KILL_ROUNDS=100` for more rounds. */
const rounds = Number(process.env['WF_KILL_ROUNDS'] ?? 10);
const prefix = randomUUID();
const clients = 3;
const longestLifeMs = 600;
const steps = ['one', 'two', 'three'];

const workflow = `steps:
${steps.map((name, i) => `  - name: ${name}\n    command: sh -c 'echo "$WF_RUN_ID ${name}" >> started'${i === 0 ? '' : `\n    depends: ${steps[i - 1]}`}`).join('\n')}
`;

test(
  'a daemon that is killed at any moment loses no accepted run and starts no step twice',
  { timeout: 30_000 + rounds * 4000 },
  () =>
    withDaemons({ 'w.yaml': workflow }, async (place) => {
      const accepted: string[] = [];
      const asked: string[] = [];
      for (let round = 0; round < rounds; round += 1) await lifeAndDeath(place, round, { accepted, asked });
      expect(accepted.length).toBeGreaterThan(rounds / 2);

      const last = place.launch();
      await daemonUrl(last);
      const runs = await eventually(async () => {
        const all = await place.json<readonly RunSummary[]>('history', '--limit', '10000');
        return all.every(({ finishedAt }) => finishedAt !== null) && all;
      });
      await Promise.all(runs.map(({ owner }) => untilGone(owner?.pid ?? 0)));

      expect(new Set(runs.map(({ status, error }) => `${status} ${error ?? ''}`))).toEqual(new Set(['succeeded ']));
      const ids = runs.map(({ runId }) => runId);
      expect(accepted.filter((runId) => !ids.includes(runId))).toEqual([]);
      expect(ids.filter((runId) => !asked.includes(runId))).toEqual([]);
      const started = readFileSync(join(place.cwd, 'started'), 'utf8').trimEnd().split('\n').sort();
      expect(started).toEqual(ids.flatMap((runId) => steps.map((name) => `${runId} ${name}`)).sort());
      last.kill('SIGTERM');
      expect((await last.ended).code).toBe(0);
    }),
);

type Asked = { readonly accepted: string[]; readonly asked: string[] };

/** Clients start runs one after the other until the daemon is killed. */
async function lifeAndDeath(place: DaemonPlace, round: number, { accepted, asked }: Asked): Promise<void> {
  const daemon = place.launch('--max-concurrent-runs', '3');
  // Sometimes it is killed before it listens.
  const url = round % 5 === 4 ? null : await daemonUrl(daemon);
  const timer = setTimeout(() => daemon.kill('SIGKILL'), Math.random() * longestLifeMs);
  onTestFinished(() => clearTimeout(timer));
  const client = async (number: number) => {
    for (let i = 0; url !== null; i += 1) {
      const runId = `${prefix}-${round}-${number}-${i}`;
      asked.push(runId);
      const answer = await act(url, 'w', { action: 'start', 'request-id': runId }).catch(() => null);
      if (answer === null) return;
      expect(answer.status).toBe(200);
      accepted.push(runId);
      // Not faster than runs finish: otherwise thousands would queue up.
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
  };
  await Promise.all([daemon.ended, ...Array.from({ length: clients }, (_, number) => client(number))]);
}
