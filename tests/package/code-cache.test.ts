import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { launchRecorded, packageFolder, writeProgram } from './launch.ts';

let folder: string;
let home: string;
let cacheFolder: string;

beforeEach(() => {
  folder = packageFolder(program('one'));
  home = mkdtempSync(join(tmpdir(), 'wf-home-'));
  cacheFolder = join(home, '.cache/wf');
});

afterEach(() => {
  rmSync(folder, { recursive: true });
  rmSync(home, { recursive: true });
});

/** Prints the word; has enough functions for damage in the middle of its compiled code to matter. */
function program(word: string): string {
  const functions = Array.from({ length: 500 }, (_, at) => `f${at}: () => '${word}' + ${at}`);
  return `const all = { ${functions} };
exports.main = async () => { for (const f of Object.values(all)) f(); console.log('${word}'); return 0; };`;
}

/** Runs the program: what it printed, and whether its code came from the cache. */
function run(env: NodeJS.ProcessEnv = { HOME: home }, ...args: string[]): [stdout: string, cache: string] {
  const { stdout, caches } = launchRecorded(folder, [join(folder, 'bin/wf.js'), 'run', ...args], { env });
  return [stdout, caches.join()];
}

/** The one file in the cache. */
function cacheFile(): string {
  const names = readdirSync(cacheFolder);
  expect(names).toHaveLength(1);
  return join(cacheFolder, String(names[0]));
}

function mode(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

test('the second run uses the compiled code of the first', () => {
  expect(run()).toEqual(['one\n', 'none']);
  const { ino } = statSync(cacheFile());

  expect(run()).toEqual(['one\n', 'used']);
  expect(statSync(cacheFile()).ino).toBe(ino);
});

test('of two processes that end one after the other, only the first writes the cache', () => {
  writeProgram(
    folder,
    `exports.main = async () => {
  if (process.env.IS_FIRST) return 0;
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  spawnSync(process.execPath, process.argv.slice(1), { env: { ...process.env, WF_TEST_RECORD: '', IS_FIRST: '1' } });
  const fs = process.getBuiltinModule('node:fs');
  const folder = process.env.HOME + '/.cache/wf/';
  console.log(fs.statSync(folder + fs.readdirSync(folder)).ino);
  return 0;
};`,
  );

  const [stdout, cache] = run();

  expect([stdout.trim(), cache]).toEqual([String(statSync(cacheFile()).ino), 'none']);
});

test('the draft of another process is left alone, and removed when that process must have died', () => {
  run();
  const file = cacheFile();
  const draft = `${file}.new`;
  renameSync(file, draft);

  expect(run()).toEqual(['one\n', 'none']);
  expect(cacheFile()).toBe(draft);

  utimesSync(draft, 0, 0);

  expect(run()).toEqual(['one\n', 'none']);
  expect(readdirSync(cacheFolder)).toEqual([]);
  expect([run(), run()]).toEqual([
    ['one\n', 'none'],
    ['one\n', 'used'],
  ]);
});

test('each command has its own cache, and an invalid command line has none', () => {
  const launched = (...args: string[]) =>
    launchRecorded(folder, [join(folder, 'bin/wf.js'), ...args], { env: { HOME: home } }).caches.join();
  expect([launched('help'), launched('run'), launched('run'), launched('help')]).toEqual([
    'none',
    'none',
    'used',
    'used',
  ]);

  writeProgram(folder, 'exports.main = async () => 2;');

  expect([launched('rnu'), launched('rnu')]).toEqual(['none', 'none']);
});

test.each([0o000, 0o077, 0o777])('with umask %o only its user can read the cache', (umask) => {
  const former = process.umask(umask);
  try {
    run();
  } finally {
    process.umask(former);
  }

  expect([mode(join(home, '.cache')), mode(cacheFolder), mode(cacheFile())]).toEqual(['700', '700', '600']);
});

test('WF_HOME and XDG_CACHE_HOME set other directories', () => {
  run({ HOME: home, XDG_CACHE_HOME: join(home, 'xdg') });
  run({ HOME: home, XDG_CACHE_HOME: join(home, 'xdg'), WF_HOME: join(home, 'wf') });

  expect(readdirSync(home).sort()).toEqual(['wf', 'xdg']);
  expect(readdirSync(join(home, 'wf/cache'))).toHaveLength(1);
  expect(readdirSync(join(home, 'xdg/wf'))).toHaveLength(1);
});

test.each([
  ['is cut short', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
  ['has lost a sector', (bytes: Buffer) => Buffer.concat([bytes]).fill(0, 4096, 4608)],
  ['is empty', () => Buffer.alloc(0)],
  ['holds something else', () => Buffer.from('not compiled code')],
])('a cache that %s is made again', (_, damage) => {
  run();
  writeFileSync(cacheFile(), damage(readFileSync(cacheFile())));

  expect(run()).toEqual(['one\n', 'none']);
  expect(run()).toEqual(['one\n', 'used']);
});

test('a cache that V8 rejects is made again', () => {
  run();
  const options = ['--no-lazy', join(folder, 'bin/wf.js'), 'run'];

  const { stdout, caches } = launchRecorded(folder, options, { env: { HOME: home } });

  expect([stdout, caches]).toEqual(['one\n', ['rejected']]);
  expect(launchRecorded(folder, options, { env: { HOME: home } }).caches).toEqual(['used']);
});

test.each([
  ['the file', () => chmodSync(cacheFile(), 0o620)],
  ['the folder', () => chmodSync(cacheFolder, 0o770)],
])('a cache is not used when others could have written %s', (_, open) => {
  run();
  open();

  expect(run()).toEqual(['one\n', 'none']);
});

test('a cache of another user is neither used nor replaced', () => {
  run();
  const before = readFileSync(cacheFile());
  const asAnother = ['--import', 'data:text/javascript,process.getuid=()=>4242', join(folder, 'bin/wf.js'), 'run'];

  const { stdout, caches } = launchRecorded(folder, asAnother, { env: { HOME: home } });

  expect([stdout, caches]).toEqual(['one\n', ['none']]);
  expect(readFileSync(cacheFile())).toEqual(before);
});

test('a cache behind a symbolic link is not used', () => {
  run();
  const file = cacheFile();
  renameSync(file, join(home, 'elsewhere'));
  symlinkSync(join(home, 'elsewhere'), file);

  expect(run()).toEqual(['one\n', 'none']);
});

test('another program of the same size and time does not use the cached one', () => {
  const time = new Date('1985-10-26T08:15:00Z');
  utimesSync(join(folder, 'dist/wf.cjs'), time, time);
  run();
  writeProgram(folder, program('two'));
  utimesSync(join(folder, 'dist/wf.cjs'), time, time);

  expect(run()).toEqual(['two\n', 'none']);
});

test('old caches are removed when there are many', () => {
  mkdirSync(cacheFolder, { recursive: true, mode: 0o700 });
  for (let at = 0; at < 14; at += 1) {
    writeFileSync(join(cacheFolder, `${at}.code`), '');
    utimesSync(join(cacheFolder, `${at}.code`), at, at);
  }

  run();

  const left = ['3.code', '4.code', '5.code', '6.code', '7.code', '8.code', '9.code'];
  expect(readdirSync(cacheFolder).filter((name) => name.length === 6)).toEqual(left);
});

test('a command with options has a cache of its own, and uses the other one until then', () => {
  run({ HOME: home }, 'run');

  const options = ['run', '--', '-x'];
  expect(run({ HOME: home }, ...options)).toEqual(['one\n', 'used']);
  expect(readdirSync(cacheFolder)).toHaveLength(1);
  expect(run({ HOME: home }, 'run', '-x')).toEqual(['one\n', 'used']);
  expect(readdirSync(cacheFolder)).toHaveLength(2);
  expect(run({ HOME: home }, 'run', '-x')).toEqual(['one\n', 'used']);
});

test('--no-history leaves no cache, but uses one', () => {
  expect(run({ HOME: home }, '--no-history')).toEqual(['one\n', 'none']);
  expect(readdirSync(home)).toEqual([]);

  run();

  expect(run({ HOME: home }, '--no-history')).toEqual(['one\n', 'used']);
});

const nowhere = `/nonexistent-${process.pid}`;

test.each([
  ['without a home', {}],
  ['with a home that does not exist', { HOME: `${nowhere}/home` }],
  ['where nothing can be written', { HOME: '/proc' }],
  ['with a relative cache folder and no home', { XDG_CACHE_HOME: 'cache' }],
])('%s the program runs and caches nothing', (_, env) => {
  expect(run(env)).toEqual(['one\n', 'none']);
  expect(existsSync(nowhere)).toBe(false);
});
