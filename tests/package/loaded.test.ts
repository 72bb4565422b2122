import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uses } from '#fast/accelerators.ts';
import { sourcesEvaluatedBy } from './evaluated.ts';
import { launchRecorded, root } from './launch.ts';

let folder: string;

beforeAll(() => {
  execFileSync(process.execPath, [join(root, 'scripts/setup.mjs')]);
  folder = mkdtempSync(join(tmpdir(), 'wf-loaded-'));
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true }));

/** The files of the package that the command loads, and the packages bundled in them. */
function loadedBy(...args: string[]): { code: number | null; files: readonly string[]; packages: readonly string[] } {
  const options = { cwd: folder, env: { WF_HOME: join(folder, 'home') } };
  const { code, files } = launchRecorded(root, [join(root, 'bin/wf.js'), ...args], options);
  const bundled: Record<string, string[]> = JSON.parse(readFileSync(join(root, 'dist/packages.json'), 'utf8'));
  return { code, files, packages: files.flatMap((file) => bundled[file.replace('dist/', '')] ?? []).sort() };
}

function workflowFile(text: string): string {
  const file = join(folder, 'workflow.yaml');
  writeFileSync(file, text);
  return file;
}

const launcher = ['bin/wf.js', 'package.json'];
const program = ['bin/code-cache.js', 'bin/wf.js', 'dist/wf.cjs'];
const always = ['chalk', 'commander'];

test('--version loads only the launcher', () => {
  expect(loadedBy('--version')).toEqual({ code: 0, files: launcher, packages: [] });
});

test('validate loads the program and no heavy package', () => {
  const file = workflowFile('steps:\n  - name: one\n    command: echo 1\n');

  expect(loadedBy('validate', file)).toEqual({ code: 0, files: program, packages: always });
});

test('only a file in an unusual form loads the package yaml', () => {
  const file = workflowFile('steps:\n  - &first\n    name: one\n    command: echo 1\n');

  const { code, files, packages } = loadedBy('validate', file);

  expect([code, files]).toEqual([0, [...program.slice(0, 2), 'dist/vendor/yaml.cjs', ...program.slice(2)]]);
  expect(packages).toEqual([...always, 'yaml']);
});

test('only an invalid file loads the complete validator', () => {
  const file = workflowFile('steps:\n  - name: one\n    command: echo 1\n    timeoutSec: soon\n');

  const { code, files } = loadedBy('validate', file);

  expect([code, files]).toEqual([2, [...program.slice(0, 2), 'dist/vendor/validate.cjs', ...program.slice(2)]]);
});

test('code that most runs do not need is in other files', () => {
  const file = workflowFile('steps:\n  - name: one\n    command: GET http://127.0.0.1:1/\n    executor: http\n');

  const { code, files } = loadedBy('run', file);

  expect([code, files.filter((name) => name.startsWith('dist/'))]).toEqual([
    1,
    ['dist/executors.cjs', 'dist/vendor/got.cjs', 'dist/wf.cjs'],
  ]);
});

test('run loads the program and no heavy package', () => {
  const file = workflowFile('steps:\n  - name: one\n    command: echo 1\n  - name: two\n    command: echo 2 | cat\n');

  expect(loadedBy('run', file)).toEqual({ code: 0, files: program, packages: always });
});

test.each([1, 20_000, 300_000])(
  'a first run of a file of %i bytes leaves compiled code that the next one uses',
  (size) => {
    const file = workflowFile(`# ${'x'.repeat(size)}\nsteps:\n  - name: one\n    command: echo 1\n`);
    const env = { WF_HOME: join(folder, `home-${size}`) };
    const cachesOfRun = () => launchRecorded(root, [join(root, 'bin/wf.js'), 'run', file], { cwd: folder, env }).caches;

    expect([cachesOfRun(), cachesOfRun(), cachesOfRun()]).toEqual([['none'], ['used'], ['used']]);
  },
);

/** The builtin modules of Node that the command loads. */
function builtinsLoadedBy(...args: string[]): readonly string[] {
  const [preload, told] = [join(folder, 'tell-builtins.cjs'), join(folder, 'builtins.json')];
  const write = `require('fs').writeFileSync(${JSON.stringify(told)}, JSON.stringify(process.moduleLoadList))`;
  writeFileSync(preload, `process.on('exit', () => ${write});`);
  const env = { ...process.env, WF_HOME: join(folder, 'home') };
  execFileSync(process.execPath, ['--require', preload, join(root, 'bin/wf.js'), ...args], {
    cwd: folder,
    env,
    stdio: 'pipe',
  });
  const lines: readonly string[] = JSON.parse(readFileSync(told, 'utf8'));
  return lines.map((line) => line.replace('NativeModule ', ''));
}

/** Those of a run that ends before it listens for requests, for which Node loads `net` and `child_process`. */
function builtinsOfShortRun(file: string): readonly string[] {
  for (let tries = 1; ; tries++) {
    const loaded = builtinsLoadedBy('run', file);
    if (!loaded.includes('net') || tries === 50) return loaded;
  }
}

// Other lines load `child_process`, and modules of their own, for each start of a process.
test.runIf(process.versions.node.startsWith('20.') && uses('start-up'))(
  'no slow builtin module is loaded unless needed',
  () => {
    const file = workflowFile('steps:\n  - name: one\n    command: echo 1\n');
    const slow = [
      'crypto',
      'dns',
      'fs/promises',
      'http',
      'https',
      'module',
      'os',
      'perf_hooks',
      'readline',
      'timers/promises',
      'worker_threads',
      'zlib',
    ];

    expect(builtinsOfShortRun(file).filter((name) => [...slow, 'child_process', 'net', 'tty'].includes(name))).toEqual(
      [],
    );
    const others = [...slow.filter((name) => name !== 'os'), 'child_process', 'net', 'tty'];
    for (const args of [['validate', file], ['status'], ['history'], ['list']]) {
      const loaded = builtinsLoadedBy(...args).filter((name) => others.includes(name));
      expect([args[0], loaded]).toEqual([args[0], []]);
    }
  },
);

test('a plain run evaluates only modules that it may need', () => {
  const file = workflowFile('steps:\n  - name: one\n    command: "true"\n');
  const env = { WF_HOME: join(folder, 'evaluated') };
  const evaluated = sourcesEvaluatedBy(['run', file], mkdtempSync(join(folder, 'coverage-')), env);
  const needless =
    /^src\/(?:client|daemon|doctor|forwarding|server|service\/history|render\/(?:graph|report|reporters\/tree)|engine\/local\/service)\//;

  expect(evaluated).toContain('src/engine/local/local-run.ts');
  expect([...evaluated].filter((source) => needless.test(source))).toEqual([]);
  // One more module is no mistake; many more are mostly an import that should be on demand.
  expect(evaluated.size).toBeLessThan(390);
});

test('a regular expression loads re2js', () => {
  const file = workflowFile(
    'steps:\n  - name: one\n    command: echo 1\n    preconditions:\n      - { condition: abc, expected: "re:b" }\n',
  );

  const { files, packages } = loadedBy('run', file);

  expect(files).toEqual([...program.slice(0, 2), 'dist/vendor/re2js.cjs', ...program.slice(2)]);
  expect(packages).toEqual([...always.slice(0, 2), 're2js', ...always.slice(2)]);
});

test('only params with a JSON Schema load ajv', () => {
  const file = workflowFile(
    'params: {type: object, properties: {A: {type: integer, default: 1}}}\nsteps:\n  - name: one\n    command: echo 1\n',
  );

  const { code, packages } = loadedBy('run', file);

  expect(code).toBe(0);
  expect(packages.filter((name) => !always.includes(name))).toEqual([
    'ajv',
    'fast-deep-equal',
    'fast-uri',
    'json-schema-traverse',
    're2js',
  ]);
});
