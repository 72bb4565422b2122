import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dagsDirFor, readConfig } from '#config/config.ts';
import { listDirectories, listSettings } from '#config/listed-settings.ts';
import { type SettingKey, settings, variableOf } from '#config/settings.ts';
import { withDirectory } from '../support/wf.ts';

type World = {
  /** `config.yaml` of the user. */
  readonly user?: string;
  /** `.wf.yaml` of the project. */
  readonly project?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: Readonly<Record<string, unknown>>;
};

/** A home with a project in it, and a directory in that. */
function withWorld<T>(
  { user, project, env = {}, flags = {} }: World,
  use: (world: Opened) => T | Promise<T>,
): Promise<T> {
  return withDirectory(async (home) => {
    const cwd = join(home, 'project/deep/down');
    mkdirSync(cwd, { recursive: true });
    mkdirSync(join(home, '.config/wf'), { recursive: true });
    if (user !== undefined) writeFileSync(join(home, '.config/wf/config.yaml'), user);
    if (project !== undefined) writeFileSync(join(home, 'project/.wf.yaml'), project);
    const open = () => readConfig({ HOME: home, ...env }, cwd, flags);
    const told = (read: () => unknown) => {
      try {
        return read();
      } catch (error) {
        const { message, help } = error as { message: string; help: string | null };
        return `${message.replaceAll(home, '~')}${help === null ? '' : ` (${help})`}`;
      }
    };
    return use({ home, cwd, open, told });
  });
}

type Opened = {
  readonly home: string;
  readonly cwd: string;
  readonly open: () => ReturnType<typeof readConfig>;
  /** What is read, or the message and help of the error, with `~` for the home. */
  readonly told: (read: () => unknown) => unknown;
};

describe('a setting', () => {
  const all: Required<World> = {
    user: '# mine\nreporter: json\n',
    project: 'strict: true\n\nreporter: quiet\n',
    env: { WF_REPORTER: 'tree' },
    flags: { reporter: 'plain' },
  };

  test.each([
    [all, { value: ['plain'], level: 'flag', source: '--reporter' }],
    [
      { ...all, flags: {} },
      { value: ['tree'], level: 'variable', source: 'WF_REPORTER' },
    ],
    [
      { ...all, flags: {}, env: { WF_REPORTER: '' } },
      { value: ['quiet'], level: 'project', source: '~/project/.wf.yaml:3' },
    ],
    [{ user: all.user }, { value: ['json'], level: 'user', source: '~/.config/wf/config.yaml:2' }],
    [{}, { value: [], level: 'default', source: 'default' }],
  ])('is read from the nearest source: %#', async (world, expected) => {
    await withWorld(world, ({ home, open }) => {
      const found = open().settings.read('reporter');
      expect({ ...found, source: found.source.replace(home, '~') }).toEqual(expected);
    });
  });

  test('is found by its key in any spelling', async () => {
    await withWorld({ user: 'Max_Concurrent_RUNS: 3\n' }, ({ open }) => {
      expect(open().settings.read('maxConcurrentRuns').value).toBe(3);
    });
  });

  test('with a path is relative to its file', async () => {
    await withWorld({ project: 'dags: flows\n' }, ({ home, open }) =>
      expect(open().dagsDir).toBe(`${home}/project/flows`),
    );
    await withWorld({ user: 'dags: flows\n' }, ({ home, open }) =>
      expect(open().dagsDir).toBe(`${home}/.config/wf/flows`),
    );
    await withWorld({ env: { WF_DAGS: 'flows' } }, ({ cwd, open }) => expect(open().dagsDir).toBe(`${cwd}/flows`));
    await withWorld({ flags: { dags: '/flows' } }, ({ open }) => expect(open().dagsDir).toBe('/flows'));
  });

  test.each([
    ['port: 80 80\n', '1:1: "port" must be a whole number from 0 to 65535'],
    ['\nhistory: maybe\n', '2:1: "history" must be true or false'],
    ['onShutdown: explode\n', '1:1: "onShutdown" must be detach or stop or wait'],
    ['allowedHosts: {a: b}\n', '1:1: "allowedHosts" must be a list of texts'],
    ['host: [a]\n', '1:1: "host" must be a text'],
    ['prot: 80\n', '1:1: unknown key "prot" (did you mean "port"?)'],
    ['port: 1\nPORT: 2\n', '2:1: duplicate key "PORT"'],
    ['- a\n', '1:1: the configuration must be a map'],
    ['logForwarding: 5\n', '1:1: "logForwarding" must be a map'],
    ['host: &a x\nusername: *a\n', '2:1: the value cannot be read (write it without aliases)'],
    ['? [a]\n: 1\n', expect.stringMatching(/config\.yaml:1:1: a key written with "\?" is not supported/)],
    ['a: 1\n---\nb: 2\n', expect.stringContaining('the file contains more than one document')],
    ['['.repeat(50_000), expect.stringContaining('more than 100 levels deep')],
    ['port: "\x01"\n', expect.stringContaining('the control character')],
  ])('in a file is refused with its position: %j', async (user, expected) => {
    const message = typeof expected === 'string' ? `~/.config/wf/config.yaml:${expected}` : expected;
    await withWorld({ user }, ({ open, told }) => expect(told(open)).toEqual(message));
  });

  test('in a variable or option is refused with its name when it is read', async () => {
    await withWorld({ env: { WF_PORT: 'x' }, flags: { history: 'x' } }, ({ open, told }) => {
      const { settings } = open();
      expect(told(() => settings.read('port'))).toBe('WF_PORT: "port" must be a whole number from 0 to 65535');
      expect(told(() => settings.read('history'))).toBe('--history: "history" must be true or false');
      expect(settings.read('host').value).toBe('127.0.0.1');
    });
  });

  test('can be set by its variable', async () => {
    const examples: { readonly [K in SettingKey]?: string } = {
      color: 'on',
      engine: 'temporal://127.0.0.1:7233',
      engineLogs: 'file:/shared/logs',
      reporter: 'quiet',
      output: 'last',
      logOutput: 'separate',
      port: '1',
      onShutdown: 'wait',
      publicUrl: 'https://ops.example.com',
      pools: 'licences=3',
      queues: 'db=2',
      server: 'http://127.0.0.1:8080',
    };
    const env = Object.fromEntries(
      Object.entries(settings).map(([key, { kind }]) => {
        const example = kind.name === 'true or false' ? 'yes' : kind.name.startsWith('whole number') ? '7' : 'some';
        return [variableOf(key), examples[key as SettingKey] ?? example];
      }),
    );
    expect(Object.keys(env)).toContain('WF_READ_ONLY_TOKEN_FILE');
    await withWorld({ env }, ({ open }) => {
      const listed = listSettings(open()).filter(({ key }) => !key.startsWith('logForwarding'));
      expect(listed.filter(({ level }) => level !== 'variable')).toEqual([]);
    });
  });
});

describe("a project's file", () => {
  test.each([
    ['port: 80\n', '"port" cannot be set by a project'],
    ['token: abc\n', '"token" cannot be set by a project'],
    ['history: false\n', '"history" cannot be set by a project'],
    ['logForwarding: {enabled: true, httpURL: "http://evil.example"}\n', '"logForwarding" cannot be set by a project'],
    ['dags: ../..\n', '"dags" of a project must be a directory in it'],
    ['dags: link\n', '"dags" of a project must be a directory in it'],
    ['reporter: [plain, junit=/tmp/x]\n', '"reporter" of a project cannot name a file to be written'],
  ])('is limited to harmless settings: %j', async (project, expected) => {
    await withWorld({ project }, ({ home, open, told }) => {
      symlinkSync('/', join(home, 'project/link'));
      expect(told(open)).toMatch(new RegExp(`^~/project/\\.wf\\.yaml:1:1: ${expected}`));
    });
  });

  test.each([
    ['nope: 1\n', 'known are dags, color, reporter, output, logOutput, strict, strictSelectors'],
    ['prt: 1\n', 'known are dags, color, reporter, output, logOutput, strict, strictSelectors'],
    ['colr: on\n', 'did you mean "color"?'],
    [
      'port: 1\n',
      'set it in your own config.yaml; a project may set dags, color, reporter, output, logOutput, strict, strictSelectors',
    ],
  ])('reports only settings that a project may set: %j', async (project, help) => {
    await withWorld({ project }, ({ open }) => {
      expect(open).toThrow(expect.objectContaining({ help }));
    });
  });

  test('is searched up to the home directory', async () => {
    await withWorld({}, ({ home, cwd }) => {
      writeFileSync(join(home, '.wf.yaml'), 'strict: true\n');
      const read = (from: string) => readConfig({ HOME: from }, cwd, {}).settings.read('strict').value;
      expect([read(home), read(join(home, 'project'))]).toEqual([true, false]);
    });
  });

  test('is only the nearest one', async () => {
    await withWorld({ project: 'strict: true\nreporter: quiet\n' }, ({ cwd, open }) => {
      writeFileSync(join(cwd, '.wf.yaml'), 'reporter: json\n');
      const { read } = open().settings;
      expect([read('strict').value, read('reporter').value]).toEqual([false, ['json']]);
    });
  });

  test('is ignored if others can write it', async () => {
    await withWorld({ project: 'strict: true\n' }, ({ home, open }) => {
      chmodSync(join(home, 'project/.wf.yaml'), 0o666);
      const config = open();
      expect(config.settings.read('strict').level).toBe('default');
      expect(listDirectories(config, {}).projectFileIgnored).toBe('every user can change it');
    });
  });

  test.runIf(process.getuid?.() === 0)('is ignored if another user owns it', async () => {
    await withWorld({ project: 'strict: true\n' }, ({ home, cwd, open }) => {
      chownSync(join(home, 'project/.wf.yaml'), 4711, 4711);
      expect(open().settings.read('strict').level).toBe('default');
      const bySudo = readConfig({ HOME: home, SUDO_UID: '4711' }, cwd, {});
      expect(bySudo.settings.read('strict').level).toBe('project');
    });
  });

  test('does not block a command if it is a pipe', async () => {
    await withWorld({}, ({ cwd, home, open, told }) => {
      execFileSync('mkfifo', [join(cwd, '.wf.yaml'), join(home, '.config/wf/config.yaml')]);
      expect(told(open)).toBe('cannot read "~/.config/wf/config.yaml": it is a named pipe, not a regular file');
    });
  });

  test('is not read by the daemon', async () => {
    await withWorld({ project: 'dags: flows\n' }, ({ home, cwd }) => {
      const config = readConfig({ HOME: home }, cwd, {}, { isDaemon: true });
      expect([config.dagsDir, config.settings.project]).toEqual([`${home}/.config/wf/dags`, null]);
    });
  });

  test('does not name workflows of other directories', async () => {
    await withWorld({ project: 'dags: flows\n', user: 'dags: /mine\n' }, ({ home, cwd, open }) => {
      const config = open();
      expect(dagsDirFor(config, cwd)).toBe(`${home}/project/flows`);
      expect(dagsDirFor(config, `${home}/project`)).toBe(`${home}/project/flows`);
      expect(dagsDirFor(config, `${home}/project-of-mine`)).toBe('/mine');
    });
    await withWorld({ user: 'dags: /mine\n' }, ({ open }) => expect(dagsDirFor(open(), '/x')).toBe('/mine'));
  });
});

describe('secrets', () => {
  const env = {
    WF_TOKEN: 'secret-1',
    WF_READ_ONLY_TOKEN: 'secret-2',
    WF_PASSWORD: 'secret-3',
    WF_LOG_FORWARDING_HEADERS: 'Authorization: secret-4',
    WF_LOG_FORWARDING_HTTP_URL: 'https://me:secret-5@localhost/',
    OTHER: 'kept',
  };

  test('are not listed', async () => {
    await withWorld({ env }, ({ open }) => {
      const listed = listSettings(open());
      expect(JSON.stringify(listed)).not.toContain('secret-');
      expect(listed.find(({ key }) => key === 'token')).toMatchObject({ value: '***', source: 'WF_TOKEN' });
      expect(listed.find(({ key }) => key === 'logForwarding.httpURL')?.value).toBe('https://***@localhost/');
    });
  });

  test('of the daemon are not passed on to steps', async () => {
    await withWorld({ env }, ({ open }) => {
      const { processEnv } = open();
      expect(Object.keys(processEnv).filter((name) => /TOKEN|PASSWORD/.test(name))).toEqual([]);
      expect(processEnv['OTHER']).toBe('kept');
    });
  });
});
