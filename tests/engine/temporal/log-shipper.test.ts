import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { LogShipper, type ShippedLog } from '#engine/temporal/worker/log-shipper.ts';
import { systemClock } from '#system/clock.ts';
import { WfError } from '#system/errors.ts';
import type { FilePiece } from '#system/file-pieces.ts';

/** A store in memory, with a failure that it answers with. */
function world() {
  const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const run = join(directory, 'run');
  mkdirSync(join(run, 'logs'), { recursive: true });
  const stored = new Map<string, string>();
  const totals = new Map<string, number | null>();
  const said: string[] = [];
  let failure: WfError | null = null;
  let pieces = 0;
  const send = async ({ file }: ShippedLog, { offset, bytes, total }: FilePiece) => {
    pieces += 1;
    if (failure !== null) throw failure;
    const before = stored.get(file) ?? '';
    if (offset <= before.length) stored.set(file, before.slice(0, offset) + Buffer.from(bytes).toString('latin1'));
    totals.set(file, total);
    return (stored.get(file) ?? '').length;
  };
  const shipper = () =>
    new LogShipper({
      target: { url: 'file:/store', send },
      clock: systemClock,
      report: (message) => void said.push(message),
    });
  return {
    run,
    stored,
    totals,
    said,
    pieces: () => pieces,
    fail: (error: WfError | null) => {
      failure = error;
    },
    shipper,
    path: (file: string) => join(run, 'logs', file),
    log: (file: string): ShippedLog => ({
      ...{ runId: 'r', workflow: 'w', step: 's', attempt: 1, stream: 'output' },
      file,
    }),
  };
}

it('sends a log while it grows, and removes the run when all of it is sent', async () => {
  const { run, stored, totals, shipper, path, log } = world();
  const ship = shipper();
  writeFileSync(path('1.out'), 'one');
  ship.begin(log('1.out'), path('1.out'));
  await expect.poll(() => stored.get('1.out')).toBe('one');
  expect(totals.get('1.out')).toBeNull();
  const large = 'x'.repeat(200_000);
  appendFileSync(path('1.out'), large);
  ship.end(path('1.out'), 200_003);
  await ship.leave(run);
  await expect.poll(() => existsSync(run)).toBe(false);
  expect(stored.get('1.out')).toBe(`one${large}`);
  expect(totals.get('1.out')).toBe(200_003);
  expect(await ship.close(0)).toBe(0);
});

it('sends an empty log, so that it is there', async () => {
  const { stored, totals, shipper, path, log } = world();
  const ship = shipper();
  writeFileSync(path('1.out'), '');
  ship.begin(log('1.out'), path('1.out'));
  ship.end(path('1.out'), 0);
  await expect.poll(() => stored.get('1.out')).toBe('');
  expect(totals.get('1.out')).toBe(0);
  await ship.close(0);
});

it('waits for a store that is away, says so once, and continues', async () => {
  const { stored, said, shipper, path, log, fail, pieces } = world();
  fail(new WfError('unreachable', 'connect ECONNREFUSED'));
  const ship = shipper();
  for (const file of ['1.out', '2.out', '3.out']) {
    writeFileSync(path(file), file);
    ship.begin(log(file), path(file));
    ship.end(path(file), 5);
  }
  await expect.poll(pieces).toBeGreaterThan(1);
  await expect
    .poll(() => [...said])
    .toEqual(['the log store file:/store takes no logs, which are sent later: connect ECONNREFUSED']);
  fail(null);
  await expect.poll(() => [...stored.values()].sort()).toEqual(['1.out', '2.out', '3.out']);
  expect(said.slice(1)).toEqual(['the log store file:/store takes logs again']);
  await ship.close(0);
});

it('repeats a log that the store does not take yet, while it sends others', async () => {
  const { stored, said, shipper, path, log, fail } = world();
  const ship = shipper();
  fail(new WfError('not-found', 'there is no run "r"'));
  writeFileSync(path('1.out'), 'first');
  ship.begin(log('1.out'), path('1.out'));
  await new Promise((resolve) => setTimeout(resolve, 300));
  fail(null);
  writeFileSync(path('2.out'), 'other');
  ship.begin(log('2.out'), path('2.out'));
  await expect.poll(() => stored.get('2.out')).toBe('other');
  await expect.poll(() => stored.get('1.out')).toBe('first');
  expect(said).toEqual([]);
  await ship.close(0);
});

it('leaves what is not sent to the next one, which sends it and removes the run', async () => {
  const { run, stored, shipper, path, log, fail } = world();
  fail(new WfError('unreachable', 'away'));
  const first = shipper();
  writeFileSync(path('1.out'), 'left behind');
  first.begin(log('1.out'), path('1.out'));
  await first.leave(run);
  expect(await first.close(50)).toBe(1);
  expect(readdirSync(join(run, 'logs')).sort()).toEqual(['1.out', '1.out.unsent']);
  writeFileSync(path('2.out.unsent'), '{"runId":');
  fail(null);
  const second = shipper();
  await second.recover([run, join(run, 'none')]);
  await expect.poll(() => existsSync(run)).toBe(false);
  expect(stored.get('1.out')).toBe('left behind');
  await second.close(0);
});

it('keeps the directory of a run that has come back', async () => {
  const { run, stored, shipper, path, log } = world();
  writeFileSync(path('1.out'), 'one');
  writeFileSync(path('1.out.unsent'), JSON.stringify(log('1.out')));
  const ship = shipper();
  await ship.recover([run]);
  ship.enter(run);
  await expect.poll(() => stored.get('1.out')).toBe('one');
  await expect.poll(() => existsSync(path('1.out.unsent'))).toBe(false);
  expect(existsSync(path('1.out'))).toBe(true);
  await ship.close(0);
});

it('ends with a log that its step has shortened', async () => {
  const { stored, totals, shipper, path, log } = world();
  writeFileSync(path('1.out'), 'a longer text');
  const ship = shipper();
  ship.begin(log('1.out'), path('1.out'));
  await expect.poll(() => stored.get('1.out')).toBe('a longer text');
  writeFileSync(path('1.out'), 'short');
  ship.end(path('1.out'), 5);
  expect(await ship.close(2000)).toBe(0);
  expect(totals.get('1.out')).toBe(5);
});
