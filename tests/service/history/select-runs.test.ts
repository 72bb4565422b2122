import { existsSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FinishedStatus, RunStatus } from '#core/run/run.ts';
import { type RunFilter, selectRuns } from '#service/history/history.ts';
import { readPastRun } from '#service/history/past-run.ts';
import { fileStore } from '../../store/world.ts';
import fc from '../../support/fast-check.ts';
import { step, workflow } from '../../support/workflow.ts';

/** A store of finished runs with a count of the runs that a selection reads. */
function world() {
  const { store, runsDir } = fileStore();
  const statusesPath = join(runsDir, '.statuses');
  const etl = workflow({ name: 'etl', steps: [step('load')] });
  const make = async (number: number, status: FinishedStatus): Promise<string> => {
    const runId = `01997c3e-1a2b-7000-8000-${String(number).padStart(12, '0')}`;
    const journal = store.create({ runId, workflow: etl, sources: [] }, { logDir: null });
    const { name, group, file } = etl;
    journal.append([
      { type: 'run.created', at: 1, runId, workflow: name, group, file, trigger: 'cli', retryOf: null, params: [] },
      { type: 'run.finished', at: 2, status, reason: null, message: '' },
    ]);
    await journal.close();
    return runId;
  };
  const select = async (statuses: readonly RunStatus[], filter: Partial<RunFilter> = {}) => {
    let reads = 0;
    const events = (runId: string) => {
      reads += 1;
      return store.readEvents(runId);
    };
    const archive = { ...store, readEvents: events };
    const wanted = { workflow: null, statuses, from: null, to: null, limit: Number.POSITIVE_INFINITY, ...filter };
    const ids: string[] = [];
    const read = async (runId: string) => readPastRun(archive, runId);
    for await (const { runId } of selectRuns(wanted, { archive, reach: { cwd: '/', any: true }, read }))
      ids.push(runId);
    return { ids, reads };
  };
  /** Replaces the end of a finished run, as marking a step does. */
  const markAs = async (runId: string, status: 'succeeded' | 'failed') => {
    const journal = store.openForRecovery(runId);
    const end = { status, reason: null, message: '' };
    journal.append([{ type: 'step.marked', at: 3, step: 'load', status, by: 'me', run: end }]);
    await journal.close();
  };
  return { runsDir, statusesPath, make, select, markAs };
}

test('runs are selected by status without reading those with another', async () => {
  const { make, select } = world();
  const failed = await make(1, 'failed');
  for (let number = 2; number < 30; number += 1) await make(number, 'succeeded');
  expect(await select(['failed'])).toEqual({ ids: [failed], reads: 0 });
  expect(await select(['canceled'])).toEqual({ ids: [], reads: 0 });
  expect((await select(['succeeded'], { limit: 3 })).ids).toHaveLength(3);
});

describe('the cached statuses', () => {
  test('are read from the runs once if they are missing', async () => {
    const { make, select, statusesPath } = world();
    const failed = await make(1, 'failed');
    await make(2, 'succeeded');
    rmSync(statusesPath);
    expect(await select(['failed'])).toEqual({ ids: [failed], reads: 2 });
    expect(await select(['failed'])).toEqual({ ids: [failed], reads: 0 });
  });

  test('are ignored for a run whose journal has changed since', async () => {
    const { make, select, markAs } = world();
    const [one, other] = [await make(1, 'failed'), await make(2, 'succeeded')];
    await markAs(one, 'succeeded');
    await markAs(other, 'failed');
    expect((await select(['failed'])).ids).toEqual([other]);
    expect((await select(['succeeded'])).ids).toEqual([one]);
  });

  test('are ignored for a journal of the same size and another time', async () => {
    const { runsDir, make, select, statusesPath } = world();
    const runId = await make(1, 'failed');
    utimesSync(join(runsDir, runId, 'journal.jsonl'), 5, 5);
    expect((await select(['canceled'])).reads).toBe(1);
    const size = statSync(statusesPath).size;
    expect((await select(['canceled'])).reads).toBe(0);
    expect(statSync(statusesPath).size).toBe(size);
  });

  test('never hide or invent a run, whatever bytes of them change', async () => {
    const { make, select, statusesPath } = world();
    const failed = [await make(1, 'failed'), await make(2, 'failed')].toReversed();
    for (let number = 3; number < 8; number += 1) await make(number, 'succeeded');
    const bytes = readFileSync(statusesPath);
    const change = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), fc.nat(bytes.length), async (changes, cut) => {
        const damaged = Buffer.from(bytes);
        for (const [at, byte] of changes) damaged[at] = byte;
        writeFileSync(statusesPath, cut % 2 === 0 ? damaged : damaged.subarray(0, cut));
        expect((await select(['failed'])).ids).toEqual(failed);
      }),
      { numRuns: 60 },
    );
  });

  test('are compacted without removed runs when they are large', async () => {
    const { runsDir, make, select, statusesPath } = world();
    const failed = await make(1, 'failed');
    const line = readFileSync(statusesPath, 'utf8');
    writeFileSync(statusesPath, line.repeat(2100));
    expect((await select(['canceled'])).reads).toBe(0);
    expect(readFileSync(statusesPath, 'utf8')).toBe(line);
    rmSync(join(runsDir, failed), { recursive: true });
    expect(await select(['failed'])).toEqual({ ids: [], reads: 0 });
  });

  test('are not written through a symbolic link', async () => {
    const { runsDir, make, select, statusesPath } = world();
    const failed = await make(1, 'failed');
    rmSync(statusesPath);
    const target = join(runsDir, '..', 'elsewhere');
    symlinkSync(target, statusesPath);
    expect((await select(['failed'])).ids).toEqual([failed]);
    await make(2, 'succeeded');
    expect(existsSync(target)).toBe(false);
  });
});
