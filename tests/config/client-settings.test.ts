import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSettings } from '#config/config.ts';
import { readClientSettings } from '#config/login-settings.ts';
import { certificateFile } from '../support/http-server.ts';
import { withDirectory } from '../support/wf.ts';

/** The settings of a client with that environment, flags and `config.yaml`. */
function read(env: Readonly<Record<string, string>>, flags: Readonly<Record<string, string>> = {}, file = '') {
  return withDirectory(async (cwd) => {
    writeFileSync(join(cwd, 'config.yaml'), file);
    writeFileSync(join(cwd, 'token'), 'in-file\n');
    return readClientSettings(openSettings({ env: { ...env, WF_HOME: cwd }, cwd, flags, inProject: false }).read);
  });
}

const server = { WF_SERVER: 'https://ops.example.com:8443/wf/' };
const basic = (login: string) => `Basic ${Buffer.from(login).toString('base64')}`;

test('no daemon is used by default', async () => expect(await read({ WF_TOKEN: 'a' })).toBeNull());

test('the address of a daemon has a source', async () => {
  const told = { url: 'https://ops.example.com:8443/wf', authorization: null, ca: null };
  expect(await read(server)).toEqual({ ...told, source: 'WF_SERVER' });
  expect(await read({ WF_SERVER: 'http://other' }, { server: server.WF_SERVER })).toEqual({
    ...told,
    source: '--server',
  });
  expect(await read({}, {}, 'server: https://ops.example.com:8443/wf')).toMatchObject({
    ...told,
    source: expect.stringMatching(/config.yaml:1$/),
  });
});

test.each([
  [{}, null],
  [{ WF_TOKEN: 't' }, 'Bearer t'],
  [{ WF_TOKEN_FILE: 'token' }, 'Bearer in-file'],
  [{ WF_USERNAME: 'me', WF_PASSWORD: 'pä:ss' }, basic('me:pä:ss')],
  [{ WF_TOKEN: 't', WF_USERNAME: 'me', WF_PASSWORD: 'p' }, 'Bearer t'],
  [{ WF_SERVER: 'http://me:p%40ss@ops', WF_TOKEN: 't' }, basic('me:p@ss')],
  [{ WF_SERVER: 'http://:t%25@ops' }, basic(':t%')],
])('the login of %j', async (env, authorization) => {
  const settings = await read({ ...server, ...env });
  expect(settings?.authorization).toBe(authorization);
  expect(settings?.url).not.toContain('@');
});

test('authorities are read from their file', async () => {
  const found = await read({ ...server, WF_SERVER_CA: certificateFile });
  expect(found?.ca).toContain('-----BEGIN CERTIFICATE-----');
});

test.each<[Readonly<Record<string, string>>, string | RegExp]>([
  [{ WF_SERVER: 'ops.example.com' }, 'WF_SERVER: "server" must be an address that starts with http:// or https://'],
  [{ WF_SERVER: 'http://ops?x=1' }, 'WF_SERVER: "server" must be an address without a query: http://ops'],
  [{ WF_SERVER: 'http://me:50%@ops' }, 'WF_SERVER: the login in the address of the server is not correctly encoded'],
  [{ WF_TOKEN: 'two words' }, '"token" must consist of ASCII letters, digits and punctuation, without spaces'],
  [{ WF_TOKEN: 'line\r\nX: 1' }, '"token" must consist of ASCII letters, digits and punctuation, without spaces'],
  [{ WF_USERNAME: 'me' }, 'the basic login has a user name but no password'],
  [{ WF_SERVER_CA: 'nowhere.pem' }, /^WF_SERVER_CA: cannot read the certificates of "serverCa": ENOENT/],
  [{ WF_SERVER_CA: 'token' }, /^WF_SERVER_CA: ".*token" holds no certificate in PEM$/],
])('%j is rejected', async (env, message) => {
  await expect(read({ ...server, ...env })).rejects.toMatchObject({
    code: 'usage',
    message: typeof message === 'string' ? message : expect.stringMatching(message),
  });
});

test('a project cannot set the daemon', () =>
  withDirectory(async (cwd) => {
    writeFileSync(join(cwd, '.wf.yaml'), 'server: http://evil.example\n');
    expect(() => openSettings({ env: { HOME: cwd }, cwd, flags: {}, inProject: true })).toThrow(
      '"server" cannot be set by a project',
    );
  }));
