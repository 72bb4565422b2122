import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ended, launch, root } from './launch.ts';

let folder: string;

/** The package as it would be published, installed into an empty folder without a network. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'wf-installed-'));
  const packed = join(folder, 'packed');
  mkdirSync(packed);
  mkdirSync(join(folder, 'app'));
  writeFileSync(join(folder, 'app/package.json'), '{}');
  npm(root, 'pack', '--pack-destination', packed);
  npm(join(folder, 'app'), 'install', '--offline', join(packed, String(readdirSync(packed)[0])));
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true }));

function npm(cwd: string, ...args: string[]): void {
  const { code, stderr } = launch(['npm', ...args, '--no-audit', '--no-fund'], { cwd, env: environment() });
  if (code !== 0) throw new Error(`npm ${args[0]}: ${stderr}`);
}

/** Calls an installed command. */
function npx(...args: string[]): Ended {
  return launch(['npx', '--offline', '--no', ...args], { cwd: join(folder, 'app'), env: environment() });
}

function environment(): NodeJS.ProcessEnv {
  return {
    HOME: folder,
    WF_HOME: join(folder, 'wf'),
    npm_config_cache: join(folder, 'npm'),
    npm_config_update_notifier: 'false',
  };
}

function installed(...path: string[]): string {
  return join(folder, 'app/node_modules', ...path);
}

function write(name: string, text: string): void {
  writeFileSync(join(folder, 'app', name), text);
}

test('the commands of the README install the program', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [, lines = ''] = /```sh norun\n(npm pack[\s\S]*?)```/.exec(readme) ?? [];
  const [pack = '', install = '', ...rest] = lines.trimEnd().split('\n');
  const env = { ...environment(), npm_config_prefix: join(folder, 'global'), npm_config_offline: 'true' };
  const inFolder = { cwd: join(folder, 'packed'), env };

  expect([pack, rest]).toEqual([expect.stringMatching(/^npm pack +# writes wfrun-0\.1\.0\.tgz$/), []]);
  expect(launch(['sh', '-ec', install], inFolder)).toMatchObject({ code: 0 });
  expect(launch([join(folder, 'global/bin/wf'), 'version'], inFolder).stdout).toBe('0.1.0\n');
});

test('the installed package needs no other package', () => {
  expect(readdirSync(installed()).filter((name) => !name.startsWith('.'))).toEqual(['wfrun']);
});

test('the package contains the launcher, the program and its documents, and nothing else', () => {
  const files = readdirSync(installed('wfrun'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(installed('wfrun').length + 1));

  expect(files.filter((file) => !/^dist\/(?:assets|jq-thread|page|vendor)\//.test(file)).sort()).toEqual(
    [
      'LICENSE',
      'README.md',
      'bin/code-cache.js',
      'bin/task-worker.js',
      'bin/wf.js',
      'dist/THIRD-PARTY-LICENSES.txt',
      ...['daemon', 'engine', 'executors', 'remote', 'report', 'wf'].flatMap((name) => [
        `dist/${name}.cjs`,
        `dist/${name}.cjs.map`,
      ]),
      'dist/openapi.json',
      'dist/temporal-workflow.js',
      'dist/workflow.keys.json',
      'dist/sbom.cdx.json',
      'dist/workflow.schema.json',
      'docs/man/wf.1',
      'package.json',
    ].sort(),
  );
});

test('the licences of everything bundled are in the package', () => {
  const text = readFileSync(installed('wfrun/dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
  const packages = Object.values(JSON.parse(readFileSync(join(root, 'dist/packages.json'), 'utf8'))).flat();

  expect(packages).toContain('yaml');
  for (const name of packages) expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(`, 'm'));
});

test('the licences include the notices of the libraries in jq.wasm', () => {
  const text = readFileSync(installed('wfrun/dist/THIRD-PARTY-LICENSES.txt'), 'utf8');
  const program = readFileSync(join(root, 'node_modules/jq-web/jq.wasm'), 'latin1');

  for (const name of ['onig_', 'decNumber', 'jvp_dtoa']) expect(program).toContain(name);
  expect(text).toContain('Oniguruma (BSD-2-Clause)');
  expect(text).toContain('decNumber (ICU)\nICU License - ICU 1.8.1 and later');
  expect(text).toContain('David M. Gay');
});

test('the package contains the web page, with a compressed copy of each file', () => {
  const files = readdirSync(installed('wfrun/dist/page/assets')).sort();
  const plain = files.filter((file) => !/[.](?:gz|br)$/.test(file));

  expect(readFileSync(installed('wfrun/dist/page/index.html'), 'utf8')).toContain('<base href="/">');
  expect(plain.map((file) => file.slice(file.lastIndexOf('.')))).toEqual(
    expect.arrayContaining(['.css', '.js', '.svg']),
  );
  expect(files).toEqual(plain.flatMap((file) => [file, `${file}.br`, `${file}.gz`]));
});

test.each(['wf', 'wfrun'])('npx %s runs a workflow', (command) => {
  write('greet.yaml', 'steps:\n  - name: greet\n    command: echo hello world\n');

  const { code, stdout, stderr } = npx(command, 'run', 'greet.yaml');

  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toContain('hello world');
});

test('an engine needs packages, which the error names', () => {
  write('one.yaml', 'steps:\n  - name: one\n    command: echo\n');

  const { code, stderr } = npx('wf', 'run', 'one.yaml', '--engine', 'temporal://127.0.0.1:1');

  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(
      /needs packages that are not installed\n {2}help: .*: npm install @temporalio\/client@1\.24\.0 /,
    ),
  ]);
});

test('a failed run is reported by the exit code', () => {
  write('fail.yaml', "steps:\n  - name: fail\n    command: sh -c 'exit 7'\n");

  expect([npx('wf', 'run', 'fail.yaml').code, npx('wf', 'run', '-x', 'fail.yaml').code]).toEqual([1, 7]);
});

test('a package that is loaded on demand is found beside the program', () => {
  write(
    'guarded.yaml',
    'steps:\n  - name: guarded\n    command: echo let in\n    preconditions:\n      - { condition: abc, expected: "re:^a.c$" }\n',
  );

  const { code, stdout } = npx('wf', 'run', 'guarded.yaml');

  expect(code).toBe(0);
  expect(stdout).toContain('let in');
});

test('the bill of materials lists everything bundled', () => {
  const bill = JSON.parse(readFileSync(installed('wfrun/dist/sbom.cdx.json'), 'utf8'));
  const packages = Object.values(JSON.parse(readFileSync(join(root, 'dist/packages.json'), 'utf8'))).flat();
  const named: string[] = bill.components.map(({ name }: { name: string }) => name);

  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'wfrun' } } });
  expect(named).toEqual(expect.arrayContaining(packages));
  expect(bill.components).toContainEqual(
    expect.objectContaining({ name: 'yaml', purl: expect.stringMatching(/^pkg:npm\/yaml@\d/) }),
  );
});

test('the package has no script that npm would run or warn about, and packing leaves the project as it was', () => {
  const scriptsOf = (file: string) => Object.keys(JSON.parse(readFileSync(file, 'utf8')).scripts);
  const lifecycle = ['preinstall', 'install', 'postinstall', 'prepare'];
  expect(scriptsOf(installed('wfrun/package.json')).filter((name) => lifecycle.includes(name))).toEqual([]);
  expect(scriptsOf(join(root, 'package.json'))).toContain('prepare');
});
