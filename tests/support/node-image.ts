import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeArchive } from './docker.ts';

/**
 * Writes a tar archive of a small system with Node, tini, their libraries, busybox and the user `node` into a directory, as far as
 * Node's own images are needed. Nothing is fetched: all of it comes from this machine.
 */
export function makeNodeArchive(dir: string): string {
  const archive = makeArchive(dir);
  const root = join(dir, 'root');
  for (const program of [process.execPath, programPath('tini')])
    for (const file of [program, ...librariesOf(program)]) copyTo(root, file);
  mkdirSync(join(root, 'usr/bin'), { recursive: true });
  mkdirSync(join(root, 'usr/local/bin'), { recursive: true });
  symlinkSync('/bin/env', join(root, 'usr/bin/env'));
  if (process.execPath !== '/usr/bin/node') symlinkSync(process.execPath, join(root, 'bin/node'));
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0:::/bin/sh\nnode:x:1000:1000::/tmp:/bin/sh\n');
  writeFileSync(join(root, 'etc/group'), 'root:x:0:\nnode:x:1000:\n');
  execFileSync('tar', ['-C', root, '--mode=a+rX', '-cf', archive, '.']);
  rmSync(root, { recursive: true });
  return archive;
}

function programPath(name: string): string {
  return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
}

function librariesOf(program: string): readonly string[] {
  const text = execFileSync('ldd', [program], { encoding: 'utf8' });
  return [...text.matchAll(/(?:^\s+|=> )(\/\S+)/gm)].map(([, path = '']) => path);
}

function copyTo(root: string, file: string): void {
  mkdirSync(join(root, dirname(file)), { recursive: true });
  cpSync(file, join(root, file), { dereference: true });
}
