import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compare, peakMemory } from './measure.mjs';
import { workloads } from './workloads.mjs';

/**
 * `npm run bench [-- <workload...> --runs N]`: compares the time `wf` takes with that of a common program, and measures
 * its memory; prints one line per workload and marks those that miss their target. `npm run bench -- serve` loads a
 * daemon instead.
 */

if (process.argv[2] === 'serve') {
  const { benchServe } = await import('./serve.mjs');
  await benchServe(process.argv.slice(3));
  process.exit();
}
const { values, positionals } = parseArgs({ allowPositionals: true, options: { runs: { type: 'string' } } });
const unknown = positionals.filter((name) => !workloads.some((workload) => workload.name === name));
if (unknown.length > 0 || !/^([1-9]\d*)?$/.test(values.runs ?? '')) {
  console.error(`usage: npm run bench -- [${[...new Set(workloads.map(({ name }) => name))].join('|')}]... [--runs N]`);
  process.exit(2);
}
const chosen = workloads.filter(({ name }) => positionals.length === 0 || positionals.includes(name));

/**
 * Workloads that create many files run in memory, if Linux has a file system there and TMPDIR is not set. A run creates
 * a dozen files and two per step, make creates none, and ext4 takes 20 us to 1 ms per file: for minutes after many were
 * removed, that is all the benchmark would measure.
 */
const filesIn = process.env.TMPDIR === undefined && existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const roots = new Map();
try {
  if (chosen.some(({ makesFiles }) => makesFiles)) console.log(`runs are kept in ${filesIn}`);
  console.log(row('', '', 'ratio', 'at most', 'wf', 'base', 'memory', 'at most'));
  for (const workload of chosen) console.log(await measure(workload));
} finally {
  for (const root of roots.values()) rmSync(root, { recursive: true });
}

/** The working folder below this directory. */
function rootIn(place) {
  if (!roots.has(place)) roots.set(place, mkdtempSync(join(place, 'wf-bench-')));
  return roots.get(place);
}

async function measure({
  name,
  what,
  programs,
  target,
  memoryTarget = null,
  makesFiles = false,
  isLarge = false,
  keepsHome = false,
  isLeast = false,
  runs,
}) {
  const folder = join(rootIn(makesFiles ? filesIn : tmpdir()), name);
  const home = join(folder, 'home');
  mkdirSync(home, { recursive: true });
  const { ours, base, close } = await programs(folder);
  try {
    const [program, other] = [ours, base].map((each) => ({ ...each, env: { ...each.env, WF_HOME: home } }));
    const cleanUp = () => {
      if (!keepsHome) forgetRuns(home, isLarge ? null : mkdtempSync(join(folder, 'done-')));
    };
    const times = await compare(program, other, { runs: Number(values.runs ?? runs), cleanUp, isLeast });
    return line({ name, what, target, memoryTarget }, { ...times, memoryMb: await peakMemory(program, folder) });
  } finally {
    await close?.();
  }
}

function line({ name, what, target, memoryTarget }, { ratio, oursMs, baseMs, memoryMb }) {
  const misses = (target !== null && ratio > target) || (memoryTarget !== null && memoryMb > memoryTarget);
  const memory = [`${memoryMb.toFixed(0)} MB`, memoryTarget === null ? '' : `${memoryTarget} MB`];
  return `${row(name, what, ratio.toFixed(3), target?.toFixed(2) ?? '', inMs(oursMs), inMs(baseMs), ...memory)}${misses ? '  MISS' : ''}`;
}

/**
 * Removes everything but the compiled code, which users have too. Moves it aside if possible, since some file systems
 * (ext4) create files slowly for minutes after many were removed.
 */
function forgetRuns(home, aside) {
  for (const name of readdirSync(home)) {
    if (name === 'cache') continue;
    if (aside === null) rmSync(join(home, name), { recursive: true });
    else renameSync(join(home, name), join(aside, name));
  }
}

function inMs(ms) {
  return ms < 1000 ? `${ms.toFixed(1)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

function row(name, what, ...cells) {
  return [name.padEnd(10), what.padEnd(48), ...cells.map((cell) => cell.padStart(9))].join(' ').trimEnd();
}
