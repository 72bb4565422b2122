import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { journalOf } from '../support/background-runs.ts';
import { withPlace } from '../support/past-runs.ts';

/** Every line that the instances wrote; empty before the first one. */
function ledgerOf(cwd: string): readonly string[] {
  try {
    return readFileSync(join(cwd, 'ledger'), 'utf8').trimEnd().split('\n');
  } catch {
    return [];
  }
}

/** The names of the instances that are left to run. */
function unfinished({ steps }: RunSummary): readonly string[] {
  const items = steps.flatMap(({ items: each }) => each ?? []);
  return items.flatMap(({ name, status }) => (status === 'succeeded' ? [] : [name ?? ''])).toSorted();
}

const names = Array.from({ length: 10 }, (_, index) => `f${index}`);

/** Ten fan-outs of 1,000 items, of which every hundredth fails, and one more. */
const large = `steps:
  - {name: list, command: seq -f i%g 1000, output: ITEMS}
${names
  .map(
    (name) => `  - name: ${name}
    parallel: "$ITEMS"
    command: sh -c 'echo "${name}[$ITEM]" >> ledger; test $((\${ITEM#i} % 100)) -ne 0 || test -f go'
    depends: list
    continueOn: failed
`,
  )
  .join('')}  - {name: more, parallel: [one], depends: [${names.join(', ')}], command: 'sh -c "echo more >> ledger"'}
`;

describe('a run with 10,000 instances', () => {
  it(
    'accepts no more, can be read, and is retried from its journal',
    () =>
      withPlace({ 'w.yaml': large }, async (place) => {
        const { wf, json, cwd } = place;
        expect((await wf('run', 'w.yaml', '--run-id', 'r1', '-q')).code).toBe(1);
        const all = names.flatMap((name) => Array.from({ length: 1000 }, (_, index) => `${name}[i${index + 1}]`));
        expect(ledgerOf(cwd).toSorted()).toEqual(all.toSorted());
        const failed = all.filter((name) => name.endsWith('00]')).toSorted();
        const first = await json<RunSummary>('status', 'r1');
        expect(unfinished(first)).toEqual(failed);
        expect(first.steps.map(({ error }) => error)).toEqual([
          null,
          ...names.map(() => '10 of 1000 failed: i100, i200, i300, i400, i500, i600, i700, i800, i900, i1000'),
          '1 item: the run has 10000 instances of other steps and takes at most 10000',
        ]);
        expect(journalOf(place, 'r1').filter(({ type }) => type === 'step.finished')).toHaveLength(10_012);

        writeFileSync(join(cwd, 'go'), '');
        expect((await wf('retry', 'r1', '-q')).code).toBe(1);
        expect(ledgerOf(cwd).slice(10_000).toSorted()).toEqual(failed);
        const second = await json<RunSummary>('status');
        expect(unfinished(second)).toEqual([]);
        expect(second.steps.map(({ status }) => status)).toEqual([...Array(11).fill('succeeded'), 'failed']);

        expect((await wf('retry', '@latest', '--step', 'f3[i7]', '-q')).code).toBe(1);
        expect(ledgerOf(cwd).slice(10_100)).toEqual(['f3[i7]']);
      }),
    600_000,
  );
});

describe('a fan-out whose wf is killed at random moments', () => {
  it(
    'always retries exactly the instances that have not succeeded by its journal',
    () =>
      withPlace(
        {
          'w.yaml': `steps:
  - {name: a, parallel: {items: "\`seq -f i%g 200\`", maxConcurrent: 4}, command: 'sh -c "echo a[$ITEM] >> ledger; sleep 0.02"'}
  - {name: b, parallel: {items: "\`seq -f i%g 200\`", maxConcurrent: 4}, command: 'sh -c "echo b[$ITEM] >> ledger; sleep 0.02"'}
`,
        },
        async ({ json, start, cwd }) => {
          const all = ['a', 'b'].flatMap((name) => Array.from({ length: 200 }, (_, index) => `${name}[i${index + 1}]`));
          let left = all.toSorted();
          let kills = 0;
          for (let args = ['run', 'w.yaml']; left.length > 0; args = ['retry', '@latest']) {
            const before = ledgerOf(cwd).length;
            const run = start(...args, '--reporter', 'plain');
            const isKilled = kills < 12;
            if (isKilled) {
              kills += 1;
              await run.until(' START ', 1 + Math.floor(Math.random() * 12));
              run.kill('SIGKILL');
            }
            const { code } = await run.ended;
            const summary = await json<RunSummary>('status');
            const begun = ledgerOf(cwd).slice(before);
            const isUnknown = summary.steps.some(({ items }) => items === undefined);
            expect([isKilled ? null : 0, isKilled ? 'lost' : null]).toEqual([code, summary.reason]);
            expect(new Set(begun).size).toBe(begun.length);
            expect(begun.filter((name) => !left.includes(name))).toEqual([]);
            const rest = isUnknown ? left : unfinished(summary);
            expect(left.filter((name) => !rest.includes(name) && !begun.includes(name))).toEqual([]);
            left = rest.toSorted();
          }
          expect(kills).toBe(12);
        },
      ),
    300_000,
  );
});
