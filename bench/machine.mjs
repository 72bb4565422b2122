import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';

/** The directory with the file system and device that hold it. */
export function placeText(directory) {
  const [path, ...points] = [directory, ...readFileSync('/proc/self/mounts', 'utf8').trim().split('\n')];
  const mount = points
    .map((line) => line.split(' '))
    .filter(([, point]) => point === '/' || path === point || path.startsWith(`${point}/`))
    .reduce((longest, next) => (next[1].length >= longest[1].length ? next : longest));
  return `below ${directory}, ${mount[2]} on ${mount[0]}`;
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
