import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../support/background-runs.ts';
import { canUnshare, processOf, startIn, startInLasting } from '../support/namespaces.ts';
import { type Place, withPlace } from '../support/past-runs.ts';

const work = 'sh -c "echo + >> log; until test -e go; do sleep 0.02; done; echo - >> log"';
const files = {
  'child.yaml': `queue: db\nsteps:\n  - name: work\n    command: ${work}\n`,
  'one.yaml': 'steps:\n  - {name: s, run: child}\n',
};
const run = (id: string) => ['run', 'one.yaml', '--reporter', 'plain', '--run-id', id] as const;
const marks = ({ cwd }: Place) =>
  existsSync(join(cwd, 'log')) ? readFileSync(join(cwd, 'log'), 'utf8').replaceAll('\n', '') : '';

test.skipIf(!canUnshare)('a child run waits for one in another PID namespace, and is next when it has ended', () =>
  withPlace(files, async (place) => {
    const holder = startIn('another container', place, ...run('holder'));
    await eventually(() => marks(place) === '+');
    const waiter = place.start(...run('waiter'));
    await waiter.until('WAIT ');
    place.write('go', '');
    expect([(await holder.ended).code, (await waiter.ended).code]).toEqual([0, 0]);
    expect(marks(place)).toBe('+-+-');
  }),
);

test.skipIf(!canUnshare)('a child run is next when the process of one in another PID namespace is killed', () =>
  withPlace(files, async (place) => {
    const holder = startInLasting(place, ...run('holder'));
    await eventually(() => marks(place) === '+');
    const waiter = place.start(...run('waiter'));
    await waiter.until('WAIT ');
    process.kill(processOf(holder), 'SIGKILL');
    await eventually(() => marks(place) === '++');
    place.write('go', '');
    expect((await waiter.ended).code).toBe(0);
  }),
);
