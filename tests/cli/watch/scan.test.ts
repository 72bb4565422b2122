import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { changedPaths, nextChange, OwnWrites, scan } from '#cli/run/watch.ts';
import { watchPattern } from '#system/glob.ts';
import { withDirectory } from '../../support/wf.ts';

const none = new Set<string>();

test('finds matching files, without directories of tools, ignored files and cycles', async () => {
  await withDirectory(async (directory) => {
    for (const name of ['src/deep', 'node_modules/x', '.git', 'runs'])
      mkdirSync(join(directory, name), { recursive: true });
    const names = ['a.ts', 'src/b.ts', 'src/deep/c.ts', 'node_modules/x/d.ts', '.git/e.ts', 'runs/f.ts', 'report.ts'];
    for (const name of names) writeFileSync(join(directory, name), '');
    symlinkSync(directory, join(directory, 'src/circle'));
    const ignored = new Set([join(directory, 'runs'), join(directory, 'report.ts')]);
    const found = scan({ files: [], patterns: [watchPattern('**', directory)], ignored });
    const paths = ['a.ts', 'src/b.ts', 'src/circle', 'src/deep/c.ts'];
    expect([...found.snapshot.keys()].sort()).toEqual(paths.map((path) => join(directory, path)));
  });
});

test('distinguishes new, changed, replaced and removed files', async () => {
  await withDirectory(async (directory) => {
    const path = (name: string) => join(directory, name);
    for (const name of ['same', 'longer', 'replaced', 'gone']) writeFileSync(path(name), 'x');
    const targets = { files: [], patterns: [watchPattern('*', directory)], ignored: none };
    const before = scan(targets).snapshot;
    writeFileSync(path('longer'), 'xx');
    writeFileSync(path('.next'), 'x');
    renameSync(path('.next'), path('replaced'));
    writeFileSync(path('new'), '');
    rmSync(path('gone'));
    expect(changedPaths(before, scan(targets).snapshot)).toEqual(['gone', 'longer', 'new', 'replaced'].map(path));
  });
});

test('waits until changes settle, also in a directory created later', async () => {
  await withDirectory(async (directory) => {
    mkdirSync(join(directory, 'src'));
    const targets = { files: [], patterns: [watchPattern('src/**/*.ts', directory)], ignored: none };
    const before = scan(targets).snapshot;
    const next = nextChange(targets, before, new AbortController().signal);
    mkdirSync(join(directory, 'src/deep'));
    const write = (name: string) => writeFileSync(join(directory, 'src/deep', name), '');
    write('a.ts');
    // While the first one is settling: both timers are this process's, so their order is certain.
    setTimeout(write, 40, 'b.ts');
    expect([...((await next)?.keys() ?? [])].map((path) => path.slice(directory.length)).sort()).toEqual([
      '/src/deep/a.ts',
      '/src/deep/b.ts',
    ]);
  });
});

test('stops when it is canceled', async () => {
  await withDirectory(async (directory) => {
    const controller = new AbortController();
    const waiting = nextChange(
      { files: [join(directory, 'a')], patterns: [], ignored: none },
      new Map(),
      controller.signal,
    );
    controller.abort();
    expect(await waiting).toBeNull();
  });
});

test('a file that changes in three runs in a row is ignored until it changes between runs', () => {
  const writes = new OwnWrites();
  const during = (from: number) => writes.judge(new Map([['out', `${from}`]]), new Map([['out', `${from + 1}`]]));
  expect([during(1), during(2), during(3), during(4)]).toEqual([
    { counted: ['out'], discounted: [] },
    { counted: ['out'], discounted: [] },
    { counted: [], discounted: ['out'] },
    { counted: [], discounted: [] },
  ]);
  writes.changedBetween(['out']);
  expect(during(5)).toEqual({ counted: ['out'], discounted: [] });
});
