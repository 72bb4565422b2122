import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { untrustedPaths } from '#config/config.ts';
import { whyUntrusted } from '#system/untrusted.ts';
import { type Place, withPlace } from '../support/past-runs.ts';

const own = process.getuid?.() ?? 0;
const isRoot = own === 0;
const stranger = 4711;

test.each([
  [{ uid: own, mode: 0o600 }, {}, null],
  [{ uid: own, mode: 0o664 }, {}, null],
  [{ uid: 0, mode: 0o644 }, {}, null],
  [{ uid: own, mode: 0o666 }, {}, 'every user can change it'],
  [{ uid: own, mode: 0o1777 }, {}, 'every user can change it'],
  [{ uid: stranger, mode: 0o600 }, {}, 'it belongs to another user'],
  [{ uid: stranger, mode: 0o600 }, { SUDO_UID: String(stranger) }, isRoot ? null : 'it belongs to another user'],
])('%j with %j: %s', (stat, env, why) => expect(whyUntrusted(stat, env)).toBe(why));

const files = { 'w.yaml': 'steps:\n  - name: a\n    command: touch ran\n' };
const touching = 'env:\n  - X: "`touch ran`"\n';

/** Runs the workflow after something was done to its home, and tells what became of it. */
function after(change: (home: string, place: Place) => void): Promise<readonly unknown[]> {
  return withPlace(files, async (place) => {
    const home = join(place.cwd, 'home');
    mkdirSync(home, { mode: 0o700 });
    change(home, place);
    const { code, stderr } = await place.wf('run', 'w.yaml');
    return [code, stderr.replaceAll(home, '~')];
  });
}

test('a home, config.yaml or base.yaml that every user can write stops every command', async () => {
  const refusal = (path: string) => [
    2,
    `error: will not use "${path}": every user can change it\n  help: chmod o-w "${path}", or set WF_HOME to a directory of your own\n`,
  ];
  expect(await after((home) => chmodSync(home, 0o777))).toEqual(refusal('~'));
  for (const name of ['config.yaml', 'base.yaml']) {
    const loosen = (home: string) => {
      writeFileSync(join(home, name), name === 'base.yaml' ? touching : 'port: 1\n');
      chmodSync(join(home, name), 0o666);
    };
    expect(await after(loosen)).toEqual(refusal(`~/${name}`));
  }
});

test('a file that the group can write is accepted, since umask 002 has groups of one user', async () => {
  const loosen = (home: string) => {
    writeFileSync(join(home, 'base.yaml'), touching);
    chmodSync(join(home, 'base.yaml'), 0o664);
    chmodSync(home, 0o775);
  };
  expect(await after(loosen)).toEqual([0, '']);
});

test.runIf(isRoot)('a file of another user is refused', async () => {
  const give = (name: string) => (home: string) => {
    writeFileSync(join(home, 'base.yaml'), touching);
    chownSync(join(home, name), stranger, stranger);
  };
  for (const [name, path] of [
    ['base.yaml', '~/base.yaml'],
    ['.', '~'],
  ] as const) {
    const [code, stderr] = await after(give(name));
    expect([code, stderr]).toEqual([
      2,
      `error: will not use "${path}": it belongs to another user\n  help: change its owner, or set WF_HOME to a directory of your own\n`,
    ]);
  }
});

test('the daemon does not start, and wf doctor lists the files', () =>
  withPlace(files, async ({ cwd, start, wf }) => {
    const home = join(cwd, 'home');
    mkdirSync(home);
    writeFileSync(join(home, 'config.yaml'), 'port: 1\n');
    chmodSync(home, 0o777);
    chmodSync(join(home, 'config.yaml'), 0o666);
    const served = await start('serve', '--port', '0').ended;
    expect([served.code, served.stderr]).toEqual([2, expect.stringContaining(`will not use "${home}"`)]);
    const checks = JSON.parse((await wf('doctor', '--json')).stdout) as readonly { name: string; detail: string }[];
    expect(checks.filter(({ name }) => name === 'home').map(({ detail }) => detail)).toEqual([
      `${home}: not used, every user can change it`,
      `${join(home, 'config.yaml')}: not used, every user can change it`,
    ]);
    expect(untrustedPaths({ configDir: join(cwd, 'none'), stateDir: null }, {})).toEqual([]);
  }));
