import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { clearResults } from '#store/files/fingerprints/result-cache.ts';
import { keepResult, restoreResult } from './cached-result.ts';
import { buildProgram } from './program.ts';
import { temporaryDirectory } from './world.ts';

/** The files below a directory: their content, or where they lead. */
function treeOf(directory: string): Readonly<Record<string, string>> {
  if (!existsSync(directory)) return {};
  const entries = readdirSync(directory, { recursive: true, encoding: 'utf8' }).toSorted();
  return Object.fromEntries(
    entries.flatMap((path) => {
      const stats = lstatSync(join(directory, path));
      if (stats.isDirectory()) return [];
      if (stats.isSymbolicLink()) return [[path, `-> ${readlinkSync(join(directory, path))}`]];
      return [[path, `${readFileSync(join(directory, path), 'utf8')}${(stats.mode & 0o100) === 0 ? '' : ' x'}`]];
    }),
  );
}

function world() {
  const home = temporaryDirectory();
  const root = join(home, 'results');
  const cwd = join(home, 'work');
  const write = (files: Readonly<Record<string, string>>) => {
    rmSync(cwd, { recursive: true, force: true });
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(cwd, 'out', path, '..'), { recursive: true });
      writeFileSync(join(cwd, 'out', path), text);
    }
  };
  const entries = () => readdirSync(join(root, 'entries'));
  const contents = () =>
    readdirSync(join(root, 'files'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const restored = async (hash: string) => {
    rmSync(cwd, { recursive: true, force: true });
    mkdirSync(cwd);
    return (await restoreResult(root, cwd, hash)) ?? treeOf(join(cwd, 'out'));
  };
  return { root, cwd, write, entries, contents, restored };
}

/** Others each time, unless all are wanted. */
function callsToDieAt(calls: number): readonly number[] {
  const stride = process.env['WF_CHAOS'] === 'full' ? 1 : 4;
  const first = 1 + Math.floor(Math.random() * stride);
  return Array.from({ length: calls }, (_, index) => index + 1).filter((at) => at % stride === first % stride);
}

describe('the cache of results', () => {
  it('stores a content once, whether it may be executed or not', async () => {
    const { root, cwd, write, contents, restored } = world();
    write({ a: 'same', 'b/c': 'same', d: 'other' });
    chmodSync(join(cwd, 'out/a'), 0o755);
    symlinkSync('../nowhere', join(cwd, 'out/link'));
    const tree = treeOf(join(cwd, 'out'));
    expect(await keepResult(root, cwd)).toBeNull();
    write({ a: 'same' });
    expect(await keepResult(root, cwd, 'b')).toBeNull();
    expect(contents()).toHaveLength(2);
    expect(await restored('a')).toEqual(tree);
    expect(await restored('b')).toEqual({ a: 'same' });
    expect(await restored('c')).toBe('nothing is kept');
  });

  it('removes what was used least recently, and no content that another result has', async () => {
    const { root, cwd, write, entries, restored } = world();
    const size = 40_000;
    const age = (seconds: number) => {
      for (const name of entries()) {
        const path = join(root, 'entries', name);
        const at = lstatSync(path).mtimeMs / 1000 - seconds;
        utimesSync(path, at, at);
      }
    };
    const keep = async (hash: string) => {
      write({ own: hash.repeat(size), shared: 's'.repeat(size) });
      expect(await keepResult(root, cwd, hash, 200_000)).toBeNull();
      age(10);
    };
    for (const hash of ['a', 'b', 'c']) await keep(hash);
    expect(Object.keys(await restored('a'))).toEqual(['own', 'shared']);
    age(10);
    await keep('d');
    // Four contents of their own and the common one do not fit into nine tenths.
    expect([await restored('b'), entries()].map((found) => found.length)).toEqual(['nothing is kept'.length, 3]);
    for (const hash of ['a', 'c', 'd']) {
      expect(await restored(hash)).toEqual({ own: hash.repeat(size), shared: 's'.repeat(size) });
    }
  });

  it('refuses a result that is larger than the cache, and leaves nothing of it', async () => {
    const { root, cwd, write } = world();
    write({ a: 'x'.repeat(1000), b: 'y'.repeat(1000) });
    expect(await keepResult(root, cwd, 'a', 1500)).toContain('cacheMaxMiB');
    expect(readdirSync(join(root, 'drafts'))).toEqual([]);
    const asked = { cache: true, fingerprints: false, file: null, dryRun: false };
    expect(clearResults(join(root, '../runs'), asked)).toEqual({ cached: 0, bytes: 1000 });
    expect(treeOf(root)).toEqual({});
  });

  it('serves many processes at once', async () => {
    const { root, cwd, write, restored, contents } = world();
    write({ shared: 's' });
    const places = Array.from({ length: 20 }, (_, number) => {
      const own = `${cwd}-${number}`;
      mkdirSync(join(own, 'out'), { recursive: true });
      writeFileSync(join(own, 'out/shared'), 's');
      writeFileSync(join(own, 'out/own'), String(number % 4));
      return keepResult(root, own, String(number % 4), 120);
    });
    expect(await Promise.all(places)).toEqual(places.map(() => null));
    for (const hash of ['0', '1', '2', '3']) {
      const tree = await restored(hash);
      expect([{ shared: 's', own: hash }, 'nothing is kept']).toContainEqual(tree);
    }
    expect(contents().length).toBeLessThan(6);
  });

  it('has a whole result or none after a kill at any system call', { timeout: 600_000 }, async () => {
    const program = buildProgram('cache-files');
    const tree = { 'd/b': 'two' };
    const files = { 'out/d/b': 'two' };
    const spawned = (action: string, at: number, { root, cwd }: Pick<ReturnType<typeof world>, 'root' | 'cwd'>) =>
      spawnSync(process.execPath, [program, action, root, cwd, String(at)], { encoding: 'utf8' });
    const first = world();
    first.write(tree);
    const calls = Number(spawned('keep', 0, first).stdout);
    expect(calls).toBeGreaterThan(10);
    for (const at of callsToDieAt(calls)) {
      const killed = world();
      killed.write(tree);
      expect(spawned('keep', at, killed).signal).toBe('SIGKILL');
      expect([tree, 'nothing is kept']).toContainEqual(await killed.restored('a'));
      killed.write(tree);
      expect(await keepResult(killed.root, killed.cwd)).toBeNull();
      expect(await killed.restored('a')).toEqual(tree);
    }
    const { root, cwd, write } = first;
    write({ 'd/b': 'old' });
    const restoring = Number(spawned('restore', 0, first).stdout);
    expect(treeOf(cwd)).toEqual(files);
    for (const at of callsToDieAt(restoring)) {
      write({ 'd/b': 'old' });
      expect(spawned('restore', at, first).signal).toBe('SIGKILL');
      const left = treeOf(cwd);
      for (const [path, text] of Object.entries(files)) expect(['old', text]).toContain(left[path]);
      expect(await restoreResult(root, cwd)).toBeNull();
      expect(treeOf(cwd)).toMatchObject(files);
    }
  });
});
