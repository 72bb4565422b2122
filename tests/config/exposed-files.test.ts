import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exposedFiles } from '#config/server-settings.ts';
import { withDaemons } from '../support/daemon.ts';
import { withDirectory } from '../support/wf.ts';

test.each([
  [0o600, null],
  [0o400, null],
  [0o644, 'every user of this machine'],
  [0o604, 'every user of this machine'],
  [0o640, 'the group of the file'],
])('a file of mode %o can be read by %s', (mode, readers) =>
  withDirectory(async (directory) => {
    const path = join(directory, 'token');
    writeFileSync(path, 'x');
    chmodSync(path, mode);
    const warning = `warning: ${readers} can read "${path}", which holds a secret: chmod 600 it`;
    expect(exposedFiles([path, path, join(directory, 'none')])).toEqual(readers === null ? [] : [warning]);
  }),
);

test.runIf(process.getuid?.() === 0)('the group of a file of another owner counts as intended', () =>
  withDirectory(async (directory) => {
    const path = join(directory, 'token');
    writeFileSync(path, 'x', { mode: 0o640 });
    chmodSync(path, 0o640);
    chownSync(path, 4711, 4711);
    expect(exposedFiles([path])).toEqual([]);
  }),
);

test('the daemon warns about them', () =>
  withDaemons({ token: 'sixteen-letters!' }, async ({ cwd, serve, write }) => {
    const token = join(cwd, 'token');
    chmodSync(token, 0o644);
    const daemon = await serve('--token-file', token);
    const { stderr } = await daemon.end('SIGTERM');
    expect(stderr).toContain(`warning: every user of this machine can read "${token}", which holds a secret`);

    write('home/config.yaml', 'password: p\nusername: u\n');
    chmodSync(join(cwd, 'home/config.yaml'), 0o644);
    const second = await (await serve()).end('SIGTERM');
    expect(second.stderr).toContain(`warning: every user of this machine can read "${join(cwd, 'home/config.yaml')}"`);
  }));
