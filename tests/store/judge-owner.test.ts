import { closeSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Owner, ProcessIdentity } from '#core/run/run.ts';
import { judgeOwner } from '#store/files/control/judge-owner.ts';
import { ownerSocketPath, releaseOwner, writeFirstOwner } from '#store/files/control/owner.ts';
import { listenAt } from '#store/files/control/owner-socket.ts';
import { isInstalled } from '../support/require.ts';
import { withDirectory } from '../support/wf.ts';

type Disk = 'local' | 'shared';

const here = { boot: 'boot', machine: 'machine' };
const owner: Owner = { pid: 1, startTime: 1, boot: 'boot', namespace: '2', host: 'c1', machine: null };

/** A judge in another namespace than every owner. */
function outsider(disk: Disk = 'local') {
  const gone: ProcessIdentity[] = [];
  const processes = {
    identify: () => null,
    isAlive: () => true,
    elsewhere: { here, isElsewhere: () => true, declareGone: (process: ProcessIdentity) => void gone.push(process) },
  };
  return { gone, judge: (directory: string) => judgeOwner(directory, processes, () => disk === 'local') };
}

describe('an owner in another namespace', () => {
  it.each([
    ['of an earlier boot, on a disk of this machine', 'local', { boot: 'earlier' }, 'gone'],
    ['of an earlier boot of this machine, on a shared disk', 'shared', { boot: 'earlier', machine: 'machine' }, 'gone'],
    ['of another machine, on a shared disk', 'shared', { boot: 'other', machine: 'other' }, 'unknown'],
    ['of a container of any machine, on a shared disk', 'shared', { boot: 'other', machine: null }, 'unknown'],
    ['of a system that does not tell its boot', 'local', { boot: null }, 'unknown'],
  ] as const)('%s', (_, disk, differs, verdict) =>
    withDirectory(async (directory) => {
      closeSync(writeFirstOwner(directory, { ...owner, ...differs }).fd);
      const { judge, gone } = outsider(disk);
      expect([await judge(directory), gone.length]).toEqual([verdict, verdict === 'gone' ? 1 : 0]);
    }),
  );

  it.each(['local', 'shared'] as const)('is alive if its socket answers, on a %s disk', (disk) =>
    withDirectory(async (directory) => {
      const ownership = writeFirstOwner(directory, owner);
      const close = await listenAt(ownerSocketPath(ownership.path), () => {});
      closeSync(ownership.fd);
      expect(await outsider(disk).judge(directory)).toBe('alive');
      close();
    }),
  );

  it.each([
    ['local', 'gone'],
    ['shared', 'unknown'],
  ] as const)('with a closed socket is, on a %s disk, %s', (disk, verdict) =>
    withDirectory(async (directory) => {
      const { path, fd } = writeFirstOwner(directory, owner);
      await leaveSocket(ownerSocketPath(path));
      expect(await outsider(disk).judge(directory)).toBe(verdict);
      closeSync(fd);
    }),
  );

  it('without a socket is alive as long as it has its file open', () =>
    withDirectory(async (directory) => {
      const { fd } = writeFirstOwner(directory, owner);
      expect(await outsider().judge(directory)).toBe(isInstalled('python3') ? 'alive' : 'unknown');
      closeSync(fd);
      const { judge, gone } = outsider();
      expect([await judge(directory), gone]).toEqual(isInstalled('python3') ? ['gone', [owner]] : ['unknown', []]);
    }));

  it('that has released this run may still own others', () =>
    withDirectory(async (directory) => {
      releaseOwner(writeFirstOwner(directory, owner));
      const { judge, gone } = outsider();
      expect([await judge(directory), gone]).toEqual(['gone', []]);
    }));

  it('is not judged by a file at the path of its socket', () =>
    withDirectory(async (directory) => {
      const { path, fd } = writeFirstOwner(directory, owner);
      writeFileSync(ownerSocketPath(path), '');
      expect(await outsider().judge(directory)).not.toBe('gone');
      closeSync(fd);
    }));

  it('is gone with the directory', () =>
    withDirectory(async (directory) => {
      expect(await outsider().judge(join(directory, 'removed'))).toBe('gone');
    }));
});

/** Leaves a socket file without a listener, like a killed process. */
async function leaveSocket(path: string): Promise<void> {
  const { link } = await import('node:fs/promises');
  const kept = `${path}.kept`;
  const close = await listenAt(path, () => {});
  await link(path, kept);
  close();
  await link(kept, path);
  rmSync(kept);
}
