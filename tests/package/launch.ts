import { type SpawnSyncOptions, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The project's own folder. */
export const root = join(import.meta.dirname, '../..');

/** How a program ended and what it printed. */
export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** What a recorded program loaded: files, and whether its bundle came from the code cache. */
export type Loaded = { readonly files: readonly string[]; readonly caches: readonly string[] };

/** Runs a program to its end, with nothing of this process's environment but `PATH`. */
export function launch(command: readonly [string, ...string[]], options: SpawnSyncOptions = {}): Ended {
  const env = { PATH: process.env['PATH'], ...options.env };
  const { status, stdout, stderr, error } = spawnSync(command[0], command.slice(1), {
    ...options,
    env,
    encoding: 'utf8',
  });
  if (error !== undefined) throw error;
  return { code: status, stdout, stderr };
}

/** The same for a Node program, with a record of what it loaded; files are relative to `folder`. */
export function launchRecorded(
  folder: string,
  args: readonly string[],
  options: SpawnSyncOptions = {},
): Ended & Loaded {
  const record = join(mkdtempSync(join(tmpdir(), 'wf-record-')), 'record');
  try {
    const preload = ['--require', join(import.meta.dirname, 'record-modules.cjs')];
    const env = { ...options.env, WF_TEST_RECORD: record };
    const ended = launch([process.execPath, ...preload, ...args], { ...options, env });
    return { ...ended, ...readRecord(record, folder) };
  } finally {
    rmSync(join(record, '..'), { recursive: true });
  }
}

function readRecord(record: string, folder: string): Loaded {
  const { files, scripts } = JSON.parse(readFileSync(record, 'utf8'));
  const own = `${realpathSync(folder)}/`;
  return {
    files: files.map((file: string) => file.replace(own, '')).sort(),
    caches: scripts.map(({ cache }: { cache: string }) => cache),
  };
}

/** A folder with the launcher and, where it is given, this program instead of the built one. */
export function packageFolder(program: string | null): string {
  const folder = mkdtempSync(join(tmpdir(), 'wf-package-'));
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
  cpSync(join(root, 'package.json'), join(folder, 'package.json'));
  if (program !== null) writeProgram(folder, program);
  return folder;
}

export function writeProgram(folder: string, program: string): void {
  mkdirSync(join(folder, 'dist'), { recursive: true });
  writeFileSync(join(folder, 'dist/wf.cjs'), program);
}
