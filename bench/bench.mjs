import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { placeText, slowFilesText } from './machine.mjs';
import { compare, peakMemory } from './measure.mjs';
import { head, lines, writeTable } from './table.mjs';
import { workloads } from './workloads.mjs';

/**
 * `npm run bench [-- <group or workload...> --runs N --memory --markdown]`: compares the time `wf` takes with that of
 * common programs, in turn, and measures its memory; prints one line per workload and program and marks those that miss
 * their target. The homes of `wf` are below the home directory of the user, where users have theirs; `--memory`
 * repeats the workloads that create files in memory. `--markdown` also writes the tables of the measured groups into
 * `docs/reference/performance.md`. `npm run bench -- serve` and `npm run bench -- soak` load a daemon instead,
 * and `npm run bench -- temporal` measures runs on a Temporal server.
 */

// With this variable each Node process reads a file of certificates first, which would more than double its start.
delete process.env.NODE_EXTRA_CA_CERTS;

// Ends what `exit` listeners end.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
])
  process.on(signal, () => process.exit(code));

const [special, ...words] = process.argv.slice(2);
const loads = {
  serve: () => import('./serve.mjs'),
  soak: () => import('./soak.mjs'),
  temporal: () => import('./temporal.mjs'),
};
if (Object.hasOwn(loads, special ?? '')) {
  const { bench } = await loads[special]();
  await bench(words);
  process.exit();
}
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: 'string' }, memory: { type: 'boolean' }, markdown: { type: 'boolean' } },
});
const names = new Set(workloads.flatMap(({ group, name }) => [group, name]));
if (!positionals.every((name) => names.has(name)) || !/^([1-9]\d*)?$/.test(values.runs ?? '')) {
  console.error(`usage: npm run bench -- [${[...names].join('|')}]... [--runs N] [--memory] [--markdown]`);
  process.exit(2);
}
const chosen = workloads.filter(
  ({ group, name }) => positionals.length === 0 || positionals.includes(group) || positionals.includes(name),
);
const inMemory = '/dev/shm';
const places = [homedir(), ...(values.memory && existsSync(inMemory) ? [inMemory] : [])];
const folders = [];
const measured = [];
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
});
for (const place of places) await measureIn(place);
if (values.markdown) writeTable(measured);

async function measureIn(place) {
  const root = mkdtempSync(join(place, '.wf-bench-'));
  folders.push(root);
  const text = placeText(place);
  console.log(`homes of wf: ${text}`);
  const slow = chosen.some(({ makesFiles }) => makesFiles) ? slowFilesText(root) : null;
  if (slow !== null) console.log(`warning: ${slow}`);
  console.log(head());
  for (const workload of chosen) {
    if (place === inMemory && !workload.makesFiles) continue;
    const result = { ...workload, place: place === inMemory ? 'in memory' : text, ...(await measure(root, workload)) };
    measured.push(result);
    for (const line of lines(result)) console.log(line);
  }
}

async function measure(root, workload) {
  const folder = join(root, workload.folder ?? workload.name);
  const home = join(folder, 'home');
  mkdirSync(home, { recursive: true });
  if (workload.once) return { ...(await workload.once(folder)), memoryMb: null };
  const { ours, peers, close } = await workload.programs(folder);
  try {
    const programs = [ours, ...peers].map((each) => ({ ...each, env: { ...each.env, WF_HOME: home } }));
    const cleanUp = () => {
      if (!workload.keepsHome) forgetRuns(home, workload.isLarge ? null : mkdtempSync(join(folder, 'done-')));
    };
    const runs = Number(values.runs ?? workload.runs);
    const times = await compare(programs, { runs, cleanUp, isLeast: workload.isLeast });
    return { ...times, memoryMb: await peakMemory(programs[0], folder) };
  } finally {
    await close?.();
  }
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
