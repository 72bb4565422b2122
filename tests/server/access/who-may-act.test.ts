import { describe, expect, test } from 'vitest';
import { accessNote, usersWithShell } from '#server/access/local-users.ts';

const none = { token: null, readOnlyToken: null, basic: null };
const ada = { name: 'ada', isRoot: false };
const root = { name: 'root', isRoot: true };
const hint = '; --require-login asks for a token';

describe('the warning about commands through an unprotected daemon', () => {
  test('is absent without a login on a machine with one user', () =>
    expect(accessNote(none, { own: ada, others: [] })).toEqual({
      isWarning: false,
      text: `no login is required: every user and program on this machine can run commands as "ada"${hint}`,
    }));

  test('appears without a login if other users have a shell', () =>
    expect(accessNote(none, { own: ada, others: ['ben', 'cy', 'di', 'ed', 'flo'] })).toEqual({
      isWarning: true,
      text: `warning: no login is required: every user and program on this machine (users with a shell: "ben", "cy", "di" and 2 more) can run commands as "ada"${hint}`,
    }));

  test('appears for root', () =>
    expect(accessNote(none, { own: root, others: [] })).toEqual({
      isWarning: true,
      text: `warning: no login is required: every user and program on this machine can run commands as root${hint}`,
    }));

  test.each([
    [{ ...none, token: 't' }, 'a login is required: every client that has it can run commands as root'],
    [
      { ...none, basic: { username: 'a', password: 'b' } },
      'a login is required: every client that has it can run commands as root',
    ],
    [{ ...none, readOnlyToken: 't' }, 'a login is required, and the only one is read-only'],
  ])('is absent with a login: %j', (login, text) =>
    expect(accessNote(login, { own: root, others: ['ben'] })).toEqual({ isWarning: false, text }),
  );
});

test('users with a shell are those who can log in, except root and the current user', () => {
  const passwd = [
    'root:x:0:0:root:/root:/bin/bash',
    'daemon:x:1:1::/usr/sbin:/usr/sbin/nologin',
    'sync:x:4:65534::/bin:/bin/sync',
    'git:x:5:5::/srv:/usr/bin/git-shell',
    'ada:x:1000:1000::/home/ada:/bin/zsh',
    'ben:x:1001:1001::/home/ben:/usr/bin/fish',
    'cy:x:1002:1002::/home/cy:/bin/sh',
    'off:x:1003:1003::/:/bin/false',
    'broken',
    '',
  ].join('\n');
  expect(usersWithShell(passwd, 1000)).toEqual(['ben', 'cy']);
});
