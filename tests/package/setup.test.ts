import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Ended, root } from './launch.ts';

let folder: string;

/** A project whose npm and whose build only note that they were called. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wf-setup-'));
  for (const name of ['scripts', 'src', 'tmp']) mkdirSync(join(folder, name));
  cpSync(join(root, 'scripts/setup.mjs'), join(folder, 'scripts/setup.mjs'));
  write('scripts/build.mjs', fakeBuild);
  write('npm.mjs', fakeNpm);
  write('package.json', '{}');
  write('src/main.ts', '');
  write('src/other.ts', '');
  write('log', '');
  mkdirSync(join(folder, 'docs/reference/schemas'), { recursive: true });
  lock({ 'node_modules/one': { version: '1.0.0' }, 'node_modules/extra': { version: '1.0.0', optional: true } });
});

afterEach(() => rmSync(folder, { recursive: true }));

const fakeBuild = `import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
export async function build() {
  appendFileSync('log', 'build;');
  if (process.env.BUILD === 'fails') throw new Error('no such module');
  if (process.env.BUILD === 'dies') process.kill(process.pid, 'SIGKILL');
  mkdirSync('dist', { recursive: true });
  writeFileSync('dist/wf.cjs', '');
}`;

/** Installs everything but what is optional, as on a platform that it is not for. */
const fakeNpm = `import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
appendFileSync('log', 'npm ' + process.argv[2] + ';');
if (process.env.NPM === 'fails') process.exit(1);
if (process.env.NPM === 'idle') process.exit(0);
const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const installed = Object.entries(packages).filter(([path, { optional }]) => path !== '' && !optional);
mkdirSync('node_modules', { recursive: true });
writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages: Object.fromEntries(installed) }));`;

function write(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

function lock(packages: object): void {
  write('package-lock.json', JSON.stringify({ packages: { '': {}, ...packages } }));
}

function setup(env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(folder, 'scripts/setup.mjs')], {
      cwd: folder,
      env: { ...env, npm_execpath: join(folder, 'npm.mjs'), TMPDIR: join(folder, 'tmp') },
    });
    const texts = { stdout: '', stderr: '' };
    child.stdout.on('data', (text) => {
      texts.stdout += text;
    });
    child.stderr.on('data', (text) => {
      texts.stderr += text;
    });
    child.once('close', (code) => resolve({ code, ...texts }));
  });
}

/** What npm and the build were called for since the last look. */
function calls(): string {
  const log = readFileSync(join(folder, 'log'), 'utf8');
  write('log', '');
  return log;
}

const quiet: Ended = { code: 0, stdout: '', stderr: '' };

test('a fresh clone is installed and built, and then left alone', async () => {
  const installing = 'setup: installing the packages of package-lock.json\n';

  expect(await setup()).toEqual({ code: 0, stdout: '', stderr: installing });
  expect(calls()).toBe('npm install;build;');
  expect(await setup()).toEqual(quiet);
  expect(calls()).toBe('');
});

test.each([
  ['another version', { 'node_modules/one': { version: '2.0.0' } }],
  ['one more package', { 'node_modules/one': { version: '1.0.0' }, 'node_modules/two': { version: '1.0.0' } }],
  ['a package less', {}],
])('a lockfile with %s is installed', async (_, packages) => {
  await setup();
  calls();
  lock(packages);

  expect((await setup()).code).toBe(0);
  expect(calls()).toBe('npm install;build;');
});

test.each([
  ['changed', () => write('src/main.ts', 'changed')],
  ['new', () => write('src/new.ts', '')],
  ['deleted', () => rmSync(join(folder, 'src/other.ts'))],
])('a %s source is built', async (_, change) => {
  await setup();
  calls();
  change();

  expect(await setup()).toEqual(quiet);
  expect(calls()).toBe('build;');
});

test('a failed installation is reported', async () => {
  const { code, stderr } = await setup({ NPM: 'fails' });

  expect(code).toBe(1);
  expect(stderr).toContain(
    'setup: "npm install" failed, see above; it needs the package registry or a filled npm cache\n',
  );
  expect(calls()).toBe('npm install;');
});

test('an installation of another version is reported', async () => {
  const { code, stderr } = await setup({ NPM: 'idle' });

  expect(code).toBe(1);
  expect(stderr).toContain('setup: what npm installed is not what package-lock.json names\n');
  expect(calls()).toBe('npm install;');
});

test('a failed build is reported and retried', async () => {
  await setup();
  write('src/main.ts', 'changed');
  calls();

  expect(await setup({ BUILD: 'fails' })).toEqual({ code: 1, stdout: '', stderr: 'setup: no such module\n' });
  expect(await setup()).toEqual(quiet);
  expect(calls()).toBe('build;build;');
});

test('half of what npm writes at the end is as good as nothing', async () => {
  mkdirSync(join(folder, 'node_modules'));
  write('node_modules/.package-lock.json', '{"packages": {');

  expect((await setup()).code).toBe(0);
  expect(calls()).toBe('npm install;build;');
});

test('concurrent calls install and build once', async () => {
  const ended = await Promise.all([setup(), setup(), setup()]);

  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0]);
  expect(calls()).toBe('npm install;build;');
});

test('a killed setup does not block the next one', async () => {
  expect((await setup({ BUILD: 'dies' })).code).toBe(null);
  expect((await setup()).code).toBe(0);
  expect(calls()).toBe('npm install;build;build;');
});
