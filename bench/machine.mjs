import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';

const TEST_FILES = 500;
/** An idle disk takes 20 us. */
const SLOW_US = 60;

/** The directory with the file system and device that hold it. */
export function placeText(directory) {
  const [path, ...points] = [directory, ...readFileSync('/proc/self/mounts', 'utf8').trim().split('\n')];
  const mount = points
    .map((line) => line.split(' '))
    .filter(([, point]) => point === '/' || path === point || path.startsWith(`${point}/`))
    .reduce((longest, next) => (next[1].length >= longest[1].length ? next : longest));
  return `below ${directory}, ${mount[2]} on ${mount[0]}`;
}

/**
 * A warning if the disk creates files slowly at the moment, else null. Creates files below the directory, which stay: to
 * remove them would be a reason for the next warning.
 */
export function slowFilesText(directory) {
  const folder = mkdtempSync(join(directory, 'new-'));
  const startedAt = process.hrtime.bigint();
  for (let at = 0; at < TEST_FILES; at++) closeSync(openSync(join(folder, `${at}`), 'wx'));
  const each = Number(process.hrtime.bigint() - startedAt) / 1000 / TEST_FILES;
  if (each < SLOW_US) return null;
  return `creating a file takes ${each.toFixed(0)} us here at the moment, as on ext4 in the five minutes after many were removed: runs of many steps take longer than usual`;
}

/** The machine, the programs and the present load in one sentence. */
export function machineText() {
  const [load] = loadavg();
  const parts = [
    `${availableParallelism()} cores (${cpus()[0].model.trim()})`,
    `${Math.round(totalmem() / 1e9)} GB of memory`,
    `Linux ${release()}`,
    `Node ${process.versions.node}`,
    ...['make', 'ninja'].flatMap((name) => versionOf(name) ?? []),
  ];
  return `${parts.join(', ')}; load average of the last minute ${load.toFixed(1)}`;
}

/** The first words of a program's `--version`; null if it is not installed. */
export function versionOf(name) {
  try {
    const [first] = execFileSync(name, ['--version'], { encoding: 'utf8' }).split('\n');
    return /^\d/.test(first) ? `${name} ${first}` : first;
  } catch {
    return null;
  }
}
