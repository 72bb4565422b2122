import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { crash, type Place, withPlace } from '../support/past-runs.ts';
import { startWf } from '../support/wf.ts';

/** Runs until the file `go` is there. */
const steps = 'steps:\n  - name: s\n    command: sh -c "echo begun; until test -e go; do sleep 0.02; done"\n';
const files = {
  'w.yaml': steps,
  'skip.yaml': `overlap: skip\n${steps}`,
  'queue.yaml': `overlap: queue\n${steps}`,
  'latest.yaml': `overlapPolicy: latest\n${steps}`,
  'all.yaml': `overlap: all\n${steps}`,
};

const quick = ['--reporter', 'plain'];

/** Uses a place in which a run of the workflow is active; `finish` lets its steps end. */
function withActive(file: string, use: (place: Place & { readonly finish: () => void }) => Promise<void>) {
  return withPlace(files, async (place) => {
    const first = startRun(place, file, '--run-id', 'first');
    await first.until('begun');
    const finish = () => place.write('go', '');
    try {
      await use({ ...place, finish });
    } finally {
      finish();
      await first.ended;
    }
  });
}

/** Starts a run; its errors are part of its output. */
const startRun = (place: Place, ...args: readonly string[]) =>
  startWf(['run', ...args, ...quick], { ...place, mergesErrors: true });

const runsOf = async ({ json }: Place, file: string) => json<readonly RunSummary[]>('history', file);

it.each([
  ['w.yaml', ['--overlap', 'skip']],
  ['queue.yaml', ['--overlap', 'skip', '--detach']],
  ['skip.yaml', []],
])('a start of %s with %j names the active run and starts nothing', (file, options) =>
  withActive(file, async (place) => {
    const { code, stderr, stdout } = await place.wf('run', file, ...options);
    expect([code, stdout]).toEqual([0, '']);
    const name = file.replace('.yaml', '');
    expect(stderr).toBe(`wf: skipped: run first of "${name}" is active (--overlap allow starts it all the same)\n`);
    expect(await runsOf(place, file)).toHaveLength(1);
  }),
);

it.each([
  ['w.yaml', ['--overlap', 'wait']],
  ['skip.yaml', ['--overlap', 'wait']],
  ['queue.yaml', []],
  ['latest.yaml', []],
])('a start of %s with %j waits for the active run', (file, options) =>
  withActive(file, async (place) => {
    const second = startRun(place, file, '--run-id', 'second', ...options);
    await second.until('waiting: run first');
    expect(await runsOf(place, file)).toHaveLength(1);
    place.finish();
    expect((await second.ended).code).toBe(0);
    const [last, before] = await runsOf(place, file);
    expect([last?.runId, before?.runId]).toEqual(['second', 'first']);
    expect(Date.parse(String(last?.startedAt))).toBeGreaterThanOrEqual(Date.parse(String(before?.finishedAt)));
  }),
);

it.each([
  ['w.yaml', []],
  ['all.yaml', []],
  ['skip.yaml', ['--overlap', 'allow']],
])('a start of %s with %j runs beside the active run', (file, options) =>
  withActive(file, async (place) => {
    const second = startRun(place, file, '--run-id', 'second', ...options);
    await second.until('begun');
    place.finish();
    expect((await second.ended).code).toBe(0);
  }),
);

it('of several starts at once one runs', () =>
  withPlace(files, async (place) => {
    const starts = Array.from({ length: 5 }, () => startRun(place, 'skip.yaml'));
    const ends = starts.map(async ({ ended }) => (await ended).stdout);
    const skipped = new Set<string>();
    const fourSkipped = new Promise<void>((resolve) => {
      for (const [index, end] of ends.entries()) {
        void end.then((text) => {
          if (text.includes('skipped')) skipped.add(`${index}`);
          if (skipped.size === 4) resolve();
        });
      }
    });
    await fourSkipped;
    place.write('go', '');
    expect((await Promise.all(ends)).filter((text) => text.includes('SUCCEEDED'))).toHaveLength(1);
    expect(await runsOf(place, 'skip.yaml')).toHaveLength(1);
    const claims = join(place.cwd, 'home/starts');
    expect(readdirSync(claims).flatMap((name) => readdirSync(join(claims, name)))).toHaveLength(1);
  }));

it('a killed run is not active, nor does its claim remain', () =>
  withPlace(files, async (place) => {
    await crash(place, 'begun', 'skip.yaml', ...quick);
    place.write('go', '');
    expect((await place.wf('run', 'skip.yaml')).code).toBe(0);
    expect((await runsOf(place, 'skip.yaml')).map(({ status }) => status)).toEqual(['succeeded', 'failed']);
  }));

it('a run in the background is active for the next start', () =>
  withPlace(files, async (place) => {
    await place.wf('run', 'skip.yaml', '--detach', '--run-id', 'back');
    expect((await place.wf('run', 'skip.yaml')).stderr).toContain('skipped: run back of');
    place.write('go', '');
    await place.wf('logs', '-f', 'back');
  }));

it('a step that waits for its own run is refused', () =>
  withPlace(files, async (place) => {
    const wf = `${process.execPath} ${join(import.meta.dirname, '../../bin/wf.js')}`;
    place.write('self.yaml', `overlap: queue\nsteps:\n  - name: s\n    command: ${wf} run self.yaml\n`);
    expect((await place.wf('run', 'self.yaml', ...quick)).stdout).toMatch(
      /a step of run \S+ of "self" cannot wait for its own run/,
    );
  }));

it.each([
  [['--watch', '--overlap', 'skip'], '--overlap does not work with --watch'],
  [['--server', 'http://127.0.0.1:1', '--overlap', 'skip'], '--overlap works only for local runs'],
  [['--overlap', 'queue'], 'Allowed choices are skip, wait, allow'],
])('refuses %j', (options, message) =>
  withPlace(files, async ({ wf }) => {
    const { code, stderr } = await wf('run', 'w.yaml', ...options);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  }),
);
