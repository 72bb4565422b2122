import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type JournalCalls, journalCalls } from '#store/files/journal/journal-file.ts';
import { events, fileStore, snapshot, temporaryDirectory } from './world.ts';

const queued = { snapshot: snapshot('r1'), logDir: null, events: events(2), launch: '{}' };

function fails(code: string) {
  return () => Promise.reject(Object.assign(new Error(`${code}: injected`), { code }));
}

/** A store whose calls to the system may fail, and a sound one over the same directory. */
function stores(calls: Partial<JournalCalls>) {
  const { store: failing, runsDir } = fileStore({ calls: { ...journalCalls, ...calls } });
  return { failing, runsDir, sound: fileStore({ runsDir }).store };
}

describe('a run that is rejected because it cannot be flushed to the disk', () => {
  const cases: readonly [string, Partial<JournalCalls>][] = [
    ['its journal cannot be flushed', { syncData: fails('EIO') }],
    ['its directory cannot be flushed', { syncPath: fails('ENOSPC') }],
    ['there are no descriptors left', { syncPath: fails('EMFILE') }],
  ];
  test.each(cases)('is removed: %s', async (_, calls) => {
    const { failing, sound, runsDir } = stores(calls);
    await expect(failing.accept(queued)).rejects.toMatchObject({ code: 'storage' });
    expect([existsSync(join(runsDir, 'r1')), readdirSync(join(runsDir, '.trash')), sound.list()]).toEqual([
      false,
      [],
      [],
    ]);
    await sound.accept(queued);
    expect([sound.list(), sound.readLaunch('r1')]).toEqual([['r1'], '{}']);
  });

  test('is removed with its external logs', async () => {
    const { failing } = stores({ syncData: fails('EIO') });
    const logDir = join(temporaryDirectory(), 'logs');
    await expect(failing.accept({ ...queued, logDir })).rejects.toMatchObject({ code: 'storage' });
    expect(existsSync(logDir) ? readdirSync(logDir, { recursive: true }) : []).toEqual([]);
  });

  test('keeps its owner until it is removed, so that no process starts it', async () => {
    const claims: string[] = [];
    const { failing, sound } = stores({
      syncData: async () => {
        try {
          sound.openForRecovery('r1');
          claims.push('taken');
        } catch (error) {
          claims.push((error as { code: string }).code);
        }
        return fails('EIO')();
      },
    });
    await expect(failing.accept(queued)).rejects.toMatchObject({ code: 'storage' });
    expect(claims).toEqual(['run-active']);
    expect(sound.mayGoOn('r1')).toBe(false);
  });
});

test('a run that can be neither flushed nor removed is queued, and the error names its id', async () => {
  const { failing, sound, runsDir } = stores({ syncData: fails('EIO') });
  mkdirSync(runsDir, { recursive: true });
  writeFileSync(join(runsDir, '.trash'), 'in the way');
  await expect(failing.accept(queued)).rejects.toMatchObject({
    code: 'storage',
    message: expect.stringContaining('run r1 is queued, but a crash of the machine may lose it'),
    help: 'check it by its id: wf status r1',
  });
  rmSync(join(runsDir, '.trash'));
  const taken = sound.openForRecovery('r1');
  expect(sound.readLaunch('r1')).toBe('{}');
  await taken.close();
});
