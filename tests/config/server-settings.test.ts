import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readServerSettings } from '#config/server-settings.ts';
import { withDirectory } from '../support/wf.ts';

type Given = {
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly files?: Readonly<Record<string, string>>;
};

/** The settings under what is given, or the message of the error; `~` stands for the home directory. */
function read({ env = {}, flags = {}, files = {} }: Given): Promise<unknown> {
  return withDirectory(async (home) => {
    mkdirSync(join(home, 'cwd'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(home, name), text);
    try {
      const settings = readServerSettings({ WF_HOME: home, ...env }, join(home, 'cwd'), flags);
      return JSON.parse(JSON.stringify(settings).replaceAll(home, '~'));
    } catch (error) {
      return (error as Error).message.replaceAll(home, '~');
    }
  });
}

const defaults = {
  host: '127.0.0.1',
  port: 8080,
  basePath: '',
  requireLogin: false,
  login: { token: null, readOnlyToken: null, basic: null },
  workerToken: null,
  secretFiles: [],
  tls: null,
  allowedHosts: [],
  trustedProxies: [],
  corsOrigins: [],
  maxConcurrentRuns: 16,
  maxQueuedRuns: 1000,
  queues: [],
  onShutdown: 'detach',
  historyKeepRuns: null,
};

describe('the settings of the daemon', () => {
  test('are optional', async () => expect(await read({})).toEqual(defaults));

  test('can all be given by options', async () => {
    const flags = {
      host: '::1',
      port: '0',
      basePath: 'wf//api/',
      tokenFile: '../token',
      readOnlyTokenFile: '../reader',
      username: 'me',
      passwordFile: '../password',
      tlsCert: 'cert.pem',
      tlsKey: '/key.pem',
      allowedHosts: ['WF.example.com', 'a, b:80'],
      trustedProxies: '10.0.0.0/8, ::1',
      requireLogin: true,
      corsOrigins: 'https://a.example',
      maxConcurrentRuns: '2',
      maxQueuedRuns: '0',
      queues: 'db=2,web=4',
      onShutdown: 'stop',
    };
    const files = {
      token: 't-1\n',
      reader: 't-2',
      password: 'p w\r\n',
      'config.yaml': 'historyKeepRuns: 5\nport: 9\n',
    };
    expect(await read({ flags, files })).toEqual({
      host: '::1',
      port: 0,
      basePath: '/wf/api',
      login: { token: 't-1', readOnlyToken: 't-2', basic: { username: 'me', password: 'p w' } },
      workerToken: null,
      secretFiles: ['~/token', '~/reader', '~/password', '/key.pem'],
      tls: { cert: '~/cwd/cert.pem', key: '/key.pem' },
      allowedHosts: ['wf.example.com', 'a', 'b:80'],
      trustedProxies: ['10.0.0.0/8', '::1'],
      requireLogin: true,
      corsOrigins: ['https://a.example'],
      maxConcurrentRuns: 2,
      maxQueuedRuns: 0,
      queues: [
        { name: 'db', maxConcurrent: 2 },
        { name: 'web', maxConcurrent: 4 },
      ],
      onShutdown: 'stop',
      historyKeepRuns: 5,
    });
  });

  test('have a token for workers, which must be long', async () => {
    const [token, file] = ['t'.repeat(16), { workers: 'w'.repeat(20) }];
    expect(await read({ env: { WF_ENGINE_LOGS_TOKEN: token } })).toEqual({ ...defaults, workerToken: token });
    expect(await read({ env: { WF_ENGINE_LOGS_TOKEN_FILE: '../workers' }, files: file })).toEqual({
      ...defaults,
      workerToken: file.workers,
      secretFiles: ['~/workers'],
    });
    const problem = expect.stringContaining('"engineLogsToken" must be at least 16');
    expect(await read({ env: { WF_ENGINE_LOGS_TOKEN: 'short' } })).toEqual(problem);
    expect(await read({ env: { WF_ENGINE_LOGS_TOKEN: `${token} ${token}` } })).toEqual(problem);
  });

  test('are not read from the project of the current directory', async () => {
    expect(await read({ files: { 'cwd/.wf.yaml': 'port: 1\n' } })).toEqual(defaults);
  });

  test('read a secret from the source nearer to the command line', async () => {
    const files = { 'config.yaml': 'token: in-file\n', token: 'in-token-file', later: 'later' };
    const login = (token: string, ...named: readonly string[]) => {
      return { ...defaults, login: { ...defaults.login, token }, secretFiles: [...named, '~/config.yaml'] };
    };
    expect(await read({ files })).toEqual(login('in-file'));
    expect(await read({ files, env: { WF_TOKEN_FILE: '../token' } })).toEqual(login('in-token-file', '~/token'));
    expect(await read({ files, env: { WF_TOKEN: 'direct' } })).toEqual(login('direct'));
    const both = { files, env: { WF_TOKEN: 'direct' }, flags: { tokenFile: '../token' } };
    expect(await read(both)).toEqual(login('in-token-file', '~/token'));
  });

  test.each<[Given, string | RegExp]>([
    [
      { env: { WF_TOKEN: 'a', WF_TOKEN_FILE: 'b' } },
      '"token" (WF_TOKEN) and "tokenFile" (WF_TOKEN_FILE) exclude each other',
    ],
    [{ env: { WF_TOKEN_FILE: 'no' } }, /^cannot read the file that "tokenFile" names: .*~\/cwd\/no/],
    [
      { env: { WF_TOKEN_FILE: '../t' }, files: { t: '\n' } },
      '"~/t", which "tokenFile" names, must hold one line that is not empty',
    ],
    [
      { env: { WF_TOKEN_FILE: '../t' }, files: { t: 'a\nb\n' } },
      '"~/t", which "tokenFile" names, must hold one line that is not empty',
    ],
    [{ env: { WF_TOKEN: '' } }, 'WF_TOKEN: "token" is set but empty'],
    [{ env: { WF_TOKEN: ' \n' } }, 'WF_TOKEN: "token" is set but empty'],
    [{ env: { WF_TOKEN_FILE: '' } }, 'WF_TOKEN_FILE: "tokenFile" is set but empty'],
    [{ env: { WF_READ_ONLY_TOKEN: '' } }, 'WF_READ_ONLY_TOKEN: "readOnlyToken" is set but empty'],
    [{ env: { WF_USERNAME: 'me', WF_PASSWORD: '' } }, 'WF_PASSWORD: "password" is set but empty'],
    [{ env: { WF_USERNAME: '', WF_PASSWORD: 'x' } }, 'WF_USERNAME: "username" is set but empty'],
    [{ flags: { tokenFile: '' } }, '--token-file: "tokenFile" is set but empty'],
    [{ files: { 'config.yaml': 'token:\n' } }, '~/config.yaml:1:1: "token" is set but empty'],
    [
      { files: { 'config.yaml': 'port: 1\nread_only_token: " "\n' } },
      '~/config.yaml:2:1: "readOnlyToken" is set but empty',
    ],
    [{ files: { 'config.yaml': 'password: ""\n' } }, '~/config.yaml:1:1: "password" is set but empty'],
    [{ env: { WF_USERNAME: 'me' } }, 'the basic login has a user name but no password'],
    [{ env: { WF_PASSWORD: 'x' } }, 'the basic login has a password but no user name'],
    [{ env: { WF_PASSWORD: 'x', WF_USERNAME: 'a:b' } }, '"username" cannot contain a colon'],
    [
      { env: { WF_TRUSTED_PROXIES: '10.0.0.1, 10.0.0.0/33' } },
      'WF_TRUSTED_PROXIES: "10.0.0.0/33" in "trustedProxies" is not an IP address or a network',
    ],
    [{ flags: { tlsCert: 'a' } }, 'the TLS certificate has no key'],
    [{ flags: { tlsKey: 'a' } }, 'the TLS key has no certificate'],
    [
      { flags: { maxConcurrentRuns: '0' } },
      '--max-concurrent-runs: "maxConcurrentRuns" must be a whole number from 1 to 10000',
    ],
  ])('are rejected if they are invalid: %j', async (given, message) => {
    expect(await read(given)).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
  });
});
