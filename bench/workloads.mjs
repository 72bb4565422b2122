import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { forwardedTo } from './forwarding.mjs';
import { listingOf } from './listing.mjs';
import { makeHistory } from './past-runs.mjs';

/**
 * The workloads: `ours` and `base` are built in a folder of the workload (`close`: what to shut down with them);
 * `target` limits the ratio of their times (null: report only), `memoryTarget` the peak memory of `wf` in MB. Workloads
 * with `makesFiles` run in memory, those with `isLarge` are removed after each run, and those with `keepsHome` keep
 * their files; `isLeast` compares the least times. make runs its recipes in a shell, as usual.
 */
export const workloads = [
  {
    name: 'version',
    what: 'wf --version / node -e 0',
    runs: 31,
    target: 1.1,
    programs: () => ({ ours: wf('--version'), base: bareNode }),
  },
  {
    name: 'run',
    what: 'wf run, one step / node -e 0',
    runs: 31,
    target: 1.5,
    makesFiles: true,
    programs: (folder) => ({
      ours: wf('run', workflowFile(folder, {}, [{ name: 'one', command: 'true', depends: [] }])),
      base: bareNode,
    }),
  },
  {
    name: 'listing',
    what: 'a listing of 1,000 workflows / bare node:http',
    runs: 5,
    // 0.7 of the throughput of a bare server.
    target: 1.43,
    programs: (folder) => listingOf(1000, folder),
  },
  {
    name: 'W1',
    what: '1,000 independent steps, two at once / make -j2',
    runs: 5,
    target: 3.0,
    memoryTarget: 75,
    makesFiles: true,
    programs: (folder) => againstMake(folder, 2, independent(1000, 'true')),
  },
  {
    name: 'W2',
    what: 'a chain of 500 / make',
    runs: 5,
    target: 2.8,
    makesFiles: true,
    programs: (folder) => againstMake(folder, 1, layers(500, 1, 1)),
  },
  {
    name: 'W3',
    what: '100 layers of 100, two at once / make -j2',
    runs: 3,
    target: 3.3,
    memoryTarget: 160,
    makesFiles: true,
    programs: (folder) => againstMake(folder, 2, layers(100, 100, 2)),
  },
  {
    name: 'W4',
    what: '200 times sleep 0.1, all at once / make -j200',
    runs: 5,
    target: 2.4,
    makesFiles: true,
    programs: (folder) => againstMake(folder, 200, independent(200, 'sleep 0.1'), { maxActiveRuns: 0 }),
  },
  ...[
    { what: 'a step that prints 1 GB / shell redirect', target: 1.1, ownTime: stepTime },
    // Includes the start of Node, which is a tenth of the whole.
    { what: '... with all of wf run, reporter quiet', target: null },
  ].map((row) => ({
    name: 'output',
    runs: 5,
    isLarge: true,
    programs: (folder) => {
      const file = workflowFile(folder, {}, [{ name: 'big', command: GIGABYTE, depends: [] }]);
      return {
        ours: { ...wf('run', '--reporter', 'quiet', file), ownTime: row.ownTime },
        base: { command: ['sh', '-c', `${GIGABYTE} > "$0"`, join(folder, 'home/redirected')] },
      };
    },
    ...row,
  })),
  ...['status', 'status workflow-3', 'history --limit 20', 'history workflow-3 --limit 20', 'logs @latest', 'list'].map(
    (command) => ({
      name: 'history',
      what: `wf ${command}, of 10,000 runs / node -e 0`,
      runs: 15,
      target: 2.0,
      keepsHome: true,
      programs: (folder) => {
        const home = join(folder, 'home');
        if (!existsSync(join(home, 'runs'))) makeHistory(home, 10_000);
        return { ours: wf(...command.split(' ')), base: bareNode };
      },
    }),
  ),
  ...['hanging', 'slow', 'dead'].flatMap((kind) => [
    {
      name: 'forwarding',
      what: `a step, its lines sent to a ${kind} sink / not`,
      runs: 9,
      isLeast: true,
      target: 1.01,
      programs: (folder) => forwardedTo(kind, folder, 'time'),
    },
    {
      name: 'forwarding',
      what: '... if it shared one core with all of wf',
      runs: 5,
      target: 1.02,
      programs: (folder) => forwardedTo(kind, folder, 'share'),
    },
  ]),
];

const GIGABYTE = 'head -c 1000000000 /dev/zero';

const bareNode = { command: [process.execPath, '-e', '0'] };

function wf(...args) {
  return { command: [process.execPath, join(import.meta.dirname, '../bin/wf.js'), ...args] };
}

/** Time in ms from the decision to start the only step of the only run to its end. */
function stepTime({ WF_HOME }) {
  const [run] = readdirSync(join(WF_HOME, 'runs')).filter((name) => !name.startsWith('.'));
  const journal = readFileSync(join(WF_HOME, 'runs', run, 'journal.jsonl'), 'utf8');
  const at = new Map(
    journal
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).data)
      .map((event) => [event.type, event.at]),
  );
  return at.get('step.finished') - at.get('step.scheduled');
}

/** The same steps for both; `jobs` at once. */
function againstMake(folder, jobs, steps, settings = { maxActiveRuns: jobs }) {
  return {
    ours: wf('run', workflowFile(folder, settings, steps)),
    base: { command: ['make', '-rRs', `-j${jobs}`, '-f', makefile(folder, steps)] },
  };
}

function independent(count, command) {
  return Array.from({ length: count }, (_, at) => ({ name: `s${at}`, command, depends: [] }));
}

/** Each step depends on `fanIn` neighbours in the previous layer. */
function layers(depth, width, fanIn) {
  const name = (layer, at) => `s${layer * width + (at % width)}`;
  return Array.from({ length: depth * width }, (_, index) => {
    const [layer, at] = [Math.floor(index / width), index % width];
    const depends = layer === 0 ? [] : Array.from({ length: fanIn }, (_, next) => name(layer - 1, at + next));
    return { name: name(layer, at), command: 'true', depends };
  });
}

function workflowFile(folder, settings, steps) {
  const file = join(folder, 'workflow.yaml');
  const head = Object.entries(settings).map(([key, value]) => `${key}: ${value}\n`);
  const body = steps.map(({ name, command, depends }) => {
    const after = depends.length === 0 ? '' : `    depends: [${depends.join(', ')}]\n`;
    return `  - name: ${name}\n    command: "${command}"\n${after}`;
  });
  writeFileSync(file, `${head.join('')}steps:\n${body.join('')}`);
  return file;
}

/** The `;` makes make use a shell. */
function makefile(folder, steps) {
  const file = join(folder, 'Makefile');
  const all = steps.map(({ name }) => name).join(' ');
  const rules = steps.map(({ name, command, depends }) => `${name}: ${depends.join(' ')}\n\t${command};\n`);
  writeFileSync(file, `.PHONY: all ${all}\nall: ${all}\n${rules.join('')}`);
  return file;
}
