import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createLogin, createSessions } from '#server/access/sessions.ts';
import { sessionFile } from '#store/files/disk/durable-text.ts';
import type { SessionStore } from '#store/store.ts';
import { withDirectory } from '../../support/wf.ts';

const HOUR = 3_600_000;
const logins = { token: 'the-token', readOnlyToken: 'look-only', basic: { username: 'anna', password: 'pass' } };

/** The sessions of consecutive daemons with one directory, at a time that a test sets. */
function daemons(directory: string) {
  const world = { now: 0, logged: [] as string[] };
  const log = (line: string) => world.logged.push(line.replace(directory, '<dir>'));
  const store = sessionFile(directory);
  const start = (given: Parameters<typeof createLogin>[0] = logins, over: SessionStore = store) => {
    const { known } = createLogin(given);
    const sessions = createSessions({ logins: known, store: over, now: () => world.now, log });
    const open = (kind: string) => {
      const login = known.find((each) => each.kind === kind);
      if (login === undefined) throw new Error(kind);
      return sessions.open(login);
    };
    return { open, find: (secret: string) => sessions.find([secret]) };
  };
  return { world, store, start, file: join(directory, 'sessions.json') };
}

test('a session lasts 12 hours after its last request, and as long as a request is open', async () => {
  await withDirectory(async (directory) => {
    const { world, start } = daemons(directory);
    const { open, find } = start();
    const [used, idle, streaming] = [open('token'), open('token'), open('token')];
    const leave = find(streaming.secret)?.use(() => {});

    world.now = 11 * HOUR;
    expect(find(used.secret)?.csrf).toBe(used.session.csrf);
    world.now = 22 * HOUR;
    expect([used, idle, streaming].map(({ secret }) => find(secret) !== null)).toEqual([true, false, true]);
    world.now = 35 * HOUR;
    leave?.();
    world.now = 46 * HOUR;
    expect([used, idle, streaming].map(({ secret }) => find(secret) !== null)).toEqual([false, false, true]);
  });
});

test('the file contains neither secrets nor hashes of passwords, and only its owner can read it', async () => {
  await withDirectory(async (directory) => {
    const { start, file } = daemons(directory);
    const { open } = start();
    const [one, other] = [open('basic'), open('basic')];
    const stored = readFileSync(file, 'utf8');
    const [first, second] = JSON.parse(stored) as { login: string }[];

    expect(one.secret).toMatch(/^[\w-]{43}$/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    for (const secret of [one.secret, one.session.csrf, other.secret, 'anna', 'pass'])
      expect(stored).not.toContain(secret);
    expect(first?.login).not.toBe(second?.login);
    expect(readdirSync(directory)).toEqual(['sessions.json']);
  });
});

test('sessions survive a restart of the daemon, unless they ended or their login changed', async () => {
  await withDirectory(async (directory) => {
    const { start } = daemons(directory);
    const before = start();
    const [kept, replaced, reading, ended] = ['basic', 'token', 'read-only token', 'basic'].map(before.open);
    ended?.session.end();
    const found = ({ find }: ReturnType<typeof start>) =>
      [kept, replaced, reading, ended].map((each) => find(each?.secret ?? '')?.login.kind ?? null);

    expect(found(start())).toEqual(['basic', 'token', 'read-only token', null]);
    expect(found(start({ ...logins, token: 'another' }))).toEqual(['basic', null, 'read-only token', null]);
    expect(found(start({ ...logins, readOnlyToken: null }))).toEqual(['basic', 'token', null, null]);
    expect(found(start({ ...logins, basic: { username: 'anna', password: 'new' } }))).toEqual([
      null,
      'token',
      'read-only token',
      null,
    ]);
  });
});

test('a restarted daemon knows the use of a session up to a few minutes before the kill', async () => {
  await withDirectory(async (directory) => {
    const { world, start } = daemons(directory);
    const before = start();
    const { secret } = before.open('token');
    for (world.now = 0; world.now < 20 * HOUR; world.now += 60_000) before.find(secret);

    world.now += 11.5 * HOUR;
    expect(start().find(secret)).not.toBeNull();
  });
});

test('sessions per login are limited: the least recently used one ends, with its requests', async () => {
  await withDirectory(async (directory) => {
    const { start } = daemons(directory);
    const { open, find } = start(logins, { read: () => [], write: () => {}, remove: () => {} });
    const own = open('token');
    const [oldest, used] = [open('read-only token'), open('read-only token')];
    let ended = 0;
    oldest.session.use(() => {
      ended += 1;
    });
    find(used.secret);
    const others = Array.from({ length: 499 }, () => open('read-only token'));

    expect([own, oldest, used, ...others].filter(({ secret }) => find(secret) === null)).toEqual([oldest]);
    expect(ended).toBe(1);
  });
});

test.each(['', '{', '[1]', '[{"id":"a","kind":"token","login":"b"}]', '\0\0\0'])(
  'a damaged file (%j) ends all sessions and prevents no new ones',
  async (text) => {
    await withDirectory(async (directory) => {
      const { world, start, file } = daemons(directory);
      const { secret } = start().open('token');
      writeFileSync(file, text);
      const { open, find } = start();

      expect(find(secret)).toBeNull();
      expect(world.logged).toEqual(['every browser has to log in again: "<dir>/sessions.json" is damaged']);
      const again = open('token');
      expect(start().find(again.secret)).not.toBeNull();
    });
  },
);

test('on a full disk logins work, and an ended session does not return', async () => {
  await withDirectory(async (directory) => {
    const { world, store, start } = daemons(directory);
    const full = { ...store, write: () => expectFull() };
    const kept = start().open('token');
    const { open, find } = start(logins, full);
    const added = open('token');

    expect([kept, added].map(({ secret }) => find(secret) !== null)).toEqual([true, true]);
    expect([kept, added].map(({ secret }) => start().find(secret) !== null)).toEqual([true, false]);
    find(kept.secret)?.end();
    expect(find(kept.secret)).toBeNull();
    expect(start().find(kept.secret)).toBeNull();
    expect(world.logged).toEqual(Array(2).fill('sessions cannot be stored: no space left on device'));
  });
});

test('logins work if the directory is not writable', async () => {
  await withDirectory(async (directory) => {
    const state = join(directory, 'state');
    mkdirSync(state);
    writeFileSync(join(state, 'daemon'), '');
    const { world, start } = daemons(join(state, 'daemon'));
    const { secret } = start().open('token');

    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(world.logged.join('\n')).toContain('sessions cannot be stored: ');
  });
});

function expectFull(): never {
  throw new Error('no space left on device');
}
