import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { root } from './launch.ts';

type Build = { readonly buildProgram: (options: { entry: string; outDir: string }) => Promise<void> };
type Licenses = { readonly thirdPartyLicenses: (root: string, files: readonly string[]) => string };

const { buildProgram }: Build = await import(join(root, 'scripts/build.mjs'));
const { thirdPartyLicenses }: Licenses = await import(join(root, 'scripts/licenses.mjs'));

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wf-build-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

async function buildOf(source: string): Promise<string> {
  writeFileSync(join(folder, 'main.ts'), source);
  await buildProgram({ entry: join(folder, 'main.ts'), outDir: join(folder, 'dist') });
  return join(folder, 'dist');
}

test('a heavy package becomes a file of its own that is loaded on demand', async () => {
  const dist = await buildOf("export const load = () => import('re2js');");

  const { load } = createRequire(import.meta.url)(join(dist, 'wf.cjs'));

  expect(readFileSync(join(dist, 'wf.cjs'), 'utf8').length).toBeLessThan(3000);
  expect((await load()).RE2JS.matches('a+', 'aaa')).toBe(true);
});

test('a heavy package that is imported statically fails the build', async () => {
  const built = buildOf("import { RE2JS } from 're2js';\nexport const main = RE2JS;");

  await expect(built).rejects.toThrow('"re2js" is heavy: load it by import() or require() where it is used');
  expect(readdirSync(folder)).toEqual(['main.ts']);
});

test('a module that is imported on demand is not evaluated before', async () => {
  writeFileSync(
    join(folder, 'late.ts'),
    "(globalThis as { order?: string[] }).order?.push('late');\nexport const late = 1;",
  );
  const order: string[] = [];
  Object.assign(globalThis, { order });
  const dist = await buildOf("export const load = () => import('./late.ts');");

  const { load } = createRequire(import.meta.url)(join(dist, 'wf.cjs'));
  order.push('loaded');
  await load();

  expect(order).toEqual(['loaded', 'late']);
});

test('characters outside ASCII survive the build', async () => {
  const dist = await buildOf("export const glyphs = ['✔', 'ä', `${'x'}│`, '🙂'];");

  const { glyphs } = createRequire(import.meta.url)(join(dist, 'wf.cjs'));

  expect(glyphs).toEqual(['✔', 'ä', 'x│', '🙂']);
});

test('the stack of a bug names positions in the source, in any file and chunk', async () => {
  writeFileSync(
    join(folder, 'late.ts'),
    "// A comment that the build leaves out.\nexport function fail(): never {\n  throw new Error('no');\n}",
  );
  const dist = await buildOf(`
    import { stackOf } from '${join(root, 'src/system/stack.ts')}';
    export const main = async () => {
      const { fail } = await import('./late.ts');
      try {
        return fail();
      } catch (error) {
        return stackOf(error);
      }
    };
  `);

  const { main } = createRequire(import.meta.url)(join(dist, 'wf.cjs'));
  const [message, thrown, called] = (await main()).split('\n');

  expect(message).toBe('Error: no');
  expect(thrown).toContain(`${relative(root, join(folder, 'late.ts'))}:3:9`);
  expect(called).toContain(`${relative(root, join(folder, 'main.ts'))}:6:16`);
});

test('a file of an earlier build is removed', async () => {
  await buildOf("export const load = () => import('re2js');");
  const dist = await buildOf('export const main = 1;');

  const files = readdirSync(dist, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.map(({ name }) => name).sort()).toEqual([
    'THIRD-PARTY-LICENSES.txt',
    'packages.json',
    'sbom.cdx.json',
    'wf.cjs',
    'wf.cjs.map',
    'workflow.keys.json',
    'workflow.schema.json',
  ]);
});

test.each([
  [
    'a licence nobody has read',
    { license: 'GPL-3.0-only' },
    { LICENSE: 'text' },
    'the licence "GPL-3.0-only" is not accepted yet',
  ],
  ['no licence', {}, { LICENSE: 'text' }, 'the licence "" is not accepted yet'],
  ['no licence text', { license: 'MIT' }, {}, 'odd@1.0.0 contains no licence text'],
])('a bundled package with %s fails the build', (_, manifest, files: Record<string, string>, message) => {
  installPackage({ name: 'odd', version: '1.0.0', ...manifest }, files);

  expect(() => thirdPartyLicenses(folder, ['src/a.ts', 'node_modules/odd/lib/a.js'])).toThrow(message);
});

test('licence texts beside a bundled file are included', () => {
  installPackage(
    { name: 'good', version: '2.0.0', license: 'MIT' },
    { LICENSE: 'of good', 'lib/3rd-party-licenses': 'of others' },
  );

  const text = thirdPartyLicenses(folder, ['node_modules/good/lib/a.js', 'node_modules/good/lib/b.js']);

  expect(text.split('\n').slice(3)).toEqual(['good 2.0.0 (MIT)', '', 'of good', '', 'of others', '']);
});

function installPackage(manifest: Readonly<Record<string, string>>, files: Readonly<Record<string, string>>): void {
  const path = join(folder, 'node_modules', String(manifest['name']));
  mkdirSync(join(path, 'lib'), { recursive: true });
  writeFileSync(join(path, 'package.json'), JSON.stringify(manifest));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
}
