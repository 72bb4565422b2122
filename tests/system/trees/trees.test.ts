import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FileCopier } from '#system/trees/copy-file.ts';
import { OpenDirectory } from '#system/trees/open-directory.ts';
import { filePattern, walkFiles } from '#system/trees/walk-files.ts';
import { withDirectory } from '../../support/wf.ts';

/** What a walk finds: files with their content, and what it did not open. */
async function found(directory: string, patterns: readonly string[], usesDescriptors = true) {
  const root = OpenDirectory.open(directory, usesDescriptors);
  const files: Record<string, string> = {};
  const unopened: Record<string, string> = {};
  try {
    await walkFiles(root, patterns.map(filePattern), {
      file: async (path, fd) => {
        files[path] = readFileSync(fd, 'utf8');
      },
      unopened: (path, why) => {
        unopened[path] = why;
      },
    });
  } finally {
    root.close();
  }
  return { files, unopened };
}

function plant(cwd: string, files: readonly string[]): void {
  for (const file of files) {
    mkdirSync(join(cwd, file, '..'), { recursive: true });
    writeFileSync(join(cwd, file), file);
  }
}

const pairs = (paths: readonly string[]) => Object.fromEntries(paths.map((path) => [path, path]));

describe('a walk', () => {
  it.each([
    [['dist/**'], ['dist/a.js', 'dist/b/c.js']],
    [['dist'], ['dist/.map', 'dist/a.js', 'dist/b/c.js']],
    [['dist/*.js'], ['dist/a.js']],
    [['**/*.{js,txt}'], ['dist/a.js', 'dist/b/c.js', 'log.txt']],
    [['.'], ['.git/head', 'dist/.map', 'dist/a.js', 'dist/b/c.js', 'log.txt']],
    [
      ['.git/*', 'log.txt'],
      ['.git/head', 'log.txt'],
    ],
    [['none/**', 'log.txt/x'], []],
  ])('finds what %j matches', (patterns, paths) =>
    withDirectory(async (cwd) => {
      plant(cwd, ['.git/head', 'dist/.map', 'dist/a.js', 'dist/b/c.js', 'log.txt']);
      expect(await found(cwd, patterns)).toEqual({ files: pairs(paths), unopened: {} });
      expect(await found(cwd, patterns, false)).toEqual({ files: pairs(paths), unopened: {} });
    }),
  );

  it.each([true, false])('opens no link out of the directory, and nothing else than files (by descriptors: %s)', (by) =>
    withDirectory(async (cwd) => {
      plant(cwd, ['in/a', 'secret', 'in/sub/b']);
      const links = { 'in/out': '../secret', 'in/up': '..', 'in/good': 'a', 'in/folder': 'sub', 'in/lost': 'nowhere' };
      for (const [link, target] of Object.entries(links)) symlinkSync(target, join(cwd, link));
      writeFileSync(join(cwd, 'in', 'a\nb'), '');
      writeFileSync(Buffer.concat([Buffer.from(join(cwd, 'in/')), Buffer.from([0xff])]), '');
      const server = createServer().listen(join(cwd, 'in/socket'));
      await new Promise((resolve) => server.on('listening', resolve));
      try {
        expect(await found(join(cwd, 'in'), ['**'], by)).toEqual({
          files: { a: 'in/a', good: 'in/a', 'sub/b': 'in/sub/b' },
          unopened: {
            out: 'link',
            up: 'link',
            folder: 'link',
            lost: 'link',
            socket: 'special',
            'a\nb': 'name',
            '\ufffd': 'name',
          },
        });
      } finally {
        server.close();
      }
    }),
  );

  it('ends 32 names deep', () =>
    withDirectory(async (cwd) => {
      const deep = `${'d/'.repeat(31)}f`;
      plant(cwd, [deep, `${'d/'.repeat(32)}f`]);
      expect(await found(cwd, ['**'])).toEqual({
        files: { [deep]: deep },
        unopened: { [`${'d/'.repeat(31)}d`]: 'depth' },
      });
    }));
});

describe('a walk through a tree in which a program replaces directories and files by links', () => {
  it.each([true, false])('opens only files of the tree (by descriptors: %s)', (by) =>
    withDirectory(async (cwd) => {
      plant(cwd, ['in/d/passwd', 'in/passwd', 'etc/passwd', 'x/passwd']);
      writeFileSync(join(cwd, 'etc/passwd'), 'root');
      const script = `while :; do
mv in/d x/d; ln -s ../etc in/d; rm in/d; mv x/d in/d
mv in/passwd x/p; ln -s ../etc/passwd in/passwd; rm in/passwd; mv x/p in/passwd
done`;
      const swapping = spawn('sh', ['-c', script], { cwd, stdio: 'ignore' });
      try {
        const seen = new Set<string>();
        for (let walks = 0; walks < 400; walks += 1) {
          const { files } = await found(join(cwd, 'in'), ['**'], by);
          for (const [path, content] of Object.entries(files)) seen.add(`${path}: ${content}`);
        }
        expect([...seen].toSorted()).toEqual(['d/passwd: in/d/passwd', 'passwd: in/passwd']);
      } finally {
        swapping.kill('SIGKILL');
        await once(swapping, 'close');
      }
    }),
  );
});

describe('an open directory', () => {
  // As a program would between the look at a name and the opening.
  it.each([true, false])('is not left through a link that replaces a part of it (by descriptors: %s)', (by) =>
    withDirectory(async (cwd) => {
      plant(cwd, ['in/sub/passwd', 'etc/passwd']);
      const root = OpenDirectory.open(join(cwd, 'in'), by);
      const sub = root.directory('sub');
      rmSync(join(cwd, 'in/sub'), { recursive: true });
      symlinkSync('../etc', join(cwd, 'in/sub'));
      expect([sub?.file('passwd'), root.directory('sub'), root.fileAt(['sub', 'passwd'])]).toEqual([null, null, null]);
      symlinkSync('../etc/passwd', join(cwd, 'in/passwd'));
      expect([root.file('passwd'), root.file('..'), root.file('../etc/passwd')]).toEqual([null, null, null]);
      sub?.close();
      root.close();
    }),
  );
});

describe('a copy', () => {
  it('has the size at its start of a file that grows, and its hash', () =>
    withDirectory(async (cwd) => {
      const [from, to] = [join(cwd, 'from'), join(cwd, 'to')];
      const content = Buffer.alloc(700_000, 'wf');
      writeFileSync(from, content, { mode: 0o755 });
      const fd = openSync(from, 'r');
      const copied = await new FileCopier().copy(fd, to, { read: () => appendFileSync(from, 'more') });
      closeSync(fd);
      expect(copied).toEqual({ bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') });
      expect(readFileSync(to).equals(content)).toBe(true);
      expect(statSync(to).mode & 0o777).toBe(0o700);
    }));

  it('ends with its signal', () =>
    withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'from'), Buffer.alloc(700_000));
      const fd = openSync(join(cwd, 'from'), 'r');
      const signal = { aborted: false };
      const read = () => {
        signal.aborted = true;
      };
      expect(await new FileCopier().copy(fd, join(cwd, 'to'), { read, signal })).toBeNull();
      closeSync(fd);
    }));
});
