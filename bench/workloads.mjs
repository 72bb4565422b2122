import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endTogether } from './end-together.mjs';
import { forwardedTo } from './forwarding.mjs';
import { listingOf, runningRunOf } from './listing.mjs';
import { daemonAtRest, runAtRest } from './memory.mjs';
import { makeHistory } from './past-runs.mjs';
import { againstMake, bareNode, independent, layers, outputChain, upToDate, wf, workflowFile } from './programs.mjs';

/**
 * The workloads, by group: `programs` builds `ours` and its `peers` in a folder of the workload (`close`: what to shut
 * down with them); `once` measures by itself. The `target` of a peer limits the ratio of the times, `memoryTarget` the
 * peak memory of `wf` in MB. `unit`: what is measured, if not a time in ms. Workloads with `makesFiles` create files, those with `isLarge` are removed after each run,
 * and those with `keepsHome` keep their files; `isLeast` compares the least times.
 */
export const workloads = [
  {
    name: 'version',
    what: 'wf --version',
    runs: 31,
    programs: () => ({ ours: wf('--version'), peers: [bareNode(1.1)] }),
  },
  {
    name: 'validate',
    what: 'wf validate, one step',
    runs: 31,
    programs: (folder) => ({ ours: wf('validate', oneStep(folder)), peers: [bareNode(2)] }),
  },
  {
    name: 'validate',
    what: 'wf validate, 1,000 steps',
    runs: 11,
    programs: (folder) => {
      const { ours, peers } = againstMake(folder, { jobs: 1, steps: layers(100, 10, 2) });
      const [node, launcher, , file] = ours.command;
      const read = peers.map((peer) => ({ ...peer, peer: `${peer.peer} -n`, command: [...peer.command, '-n'] }));
      return { ours: { command: [node, launcher, 'validate', file] }, peers: read };
    },
  },
  {
    name: 'run',
    what: 'wf run, one step',
    runs: 31,
    makesFiles: true,
    programs: (folder) => ({ ours: wf('run', oneStep(folder)), peers: [bareNode(1.6)] }),
  },
].map((each) => ({ ...each, group: 'start' }));

workloads.push(
  ...[
    {
      name: 'W1',
      what: '1,000 independent steps, two at once',
      runs: 5,
      memoryTarget: 75,
      programs: (folder) => againstMake(folder, { jobs: 2, steps: independent(1000, 'true'), target: 2.2 }),
    },
    {
      name: 'W2',
      what: 'a chain of 500',
      runs: 5,
      programs: (folder) => againstMake(folder, { jobs: 1, steps: layers(500, 1, 1), target: 2.2 }),
    },
    {
      name: 'W3',
      what: '100 layers of 100, two at once',
      runs: 3,
      memoryTarget: 160,
      programs: (folder) => againstMake(folder, { jobs: 2, steps: layers(100, 100, 2), target: 2.4 }),
    },
    {
      name: 'W4',
      what: '200 times sleep 0.1, all at once',
      runs: 5,
      programs: (folder) => {
        const steps = independent(200, 'sleep 0.1');
        return againstMake(folder, { jobs: 200, steps, settings: { maxActiveRuns: 0 }, target: 1.5 });
      },
    },
    {
      name: 'outputs',
      what: 'a chain of 200, each with the output of the one before',
      runs: 5,
      programs: (folder) => againstMake(folder, { jobs: 1, steps: outputChain(200) }),
    },
  ].map((each) => ({ ...each, group: 'steps', makesFiles: true })),
  ...[
    { what: 'a step that prints 1 GB', target: 1.1, ownTime: stepTime },
    // Includes the start of Node, which is a tenth of the whole.
    { what: '... with all of wf run, reporter quiet' },
  ].map(({ what, target, ownTime }) => ({
    group: 'output',
    name: 'output',
    what,
    runs: 5,
    isLarge: true,
    makesFiles: true,
    programs: (folder) => {
      const gigabyte = 'head -c 1000000000 /dev/zero';
      const file = workflowFile(folder, {}, [{ name: 'big', command: gigabyte, depends: [] }]);
      const redirect = ['sh', '-c', `${gigabyte} > "$0"`, join(folder, 'home/redirected')];
      return {
        ours: { ...wf('run', '--reporter', 'quiet', file), ownTime },
        peers: [{ peer: 'shell redirect', target, command: redirect }],
      };
    },
  })),
  {
    group: 'sources',
    name: 'sources',
    what: 'a step with 20,000 sources that is up to date',
    runs: 11,
    keepsHome: true,
    programs: (folder) => upToDate(folder, 20_000),
  },
  ...pastRuns('history', 10_000),
  ...pastRuns('history-50k', 50_000),
  {
    group: 'list',
    name: 'list',
    what: 'wf list, 1,000 workflows',
    runs: 11,
    keepsHome: true,
    programs: (folder) => {
      const dags = join(folder, 'home');
      for (let at = 0; at < 1000; at += 1)
        writeFileSync(join(dags, `w${at}.yaml`), 'steps:\n  - name: a\n    command: b\n');
      return { ours: wf('list', '--dags', dags), peers: [bareNode()] };
    },
  },
  {
    group: 'list',
    name: 'listing',
    what: '3,000 listings of 1,000 workflows over the API',
    runs: 5,
    // 0.7 of the throughput of a bare server.
    programs: (folder) => listingOf(1000, folder, 1.43),
  },
  ...[2000, 10_000].flatMap((count) =>
    [
      { path: '', what: 'requests for' },
      { path: '/view', what: 'requests for the view of' },
    ].map(({ path, what }) => ({
      group: 'running',
      name: `running-${count}`,
      folder: `running-${count}${path.replace('/', '-')}`,
      what: `30 ${what} a running run of ${count.toLocaleString('en')}`,
      runs: 5,
      programs: (folder) => runningRunOf(count, folder, path),
    })),
  ),
  {
    group: 'together',
    name: 'together',
    what: 'longest wait of /health while 200 runs end, 800 wait',
    once: (folder) => endTogether(folder, { active: 200, waiting: 800 }),
  },
  {
    group: 'memory',
    name: 'memory-run',
    what: 'private memory of a run, its step running',
    unit: 'MB',
    once: (folder) => runAtRest(folder),
  },
  {
    group: 'memory',
    name: 'memory-daemon',
    what: 'daemon: 50,000 runs, 1,000 workflows, 1,000 followers',
    unit: 'MB',
    once: (folder) => daemonAtRest(folder, { runs: 50_000, workflows: 1000, followers: 1000 }),
  },
  ...['hanging', 'slow', 'dead'].flatMap((kind) => [
    {
      group: 'forwarding',
      name: 'forwarding',
      what: `a step, its lines sent to a ${kind} sink`,
      runs: 9,
      isLeast: true,
      programs: (folder) => forwardedTo(kind, folder, 'time', 1.01),
    },
    {
      group: 'forwarding',
      name: 'forwarding',
      what: '... if it shared one core with all of wf',
      runs: 5,
      programs: (folder) => forwardedTo(kind, folder, 'share', 1.02),
    },
  ]),
);

function oneStep(folder) {
  return workflowFile(folder, {}, [{ name: 'one', command: 'true', depends: [] }]);
}

/** Commands about many past runs, which share one home. */
function pastRuns(group, count) {
  const commands = [
    'status',
    'status workflow-3',
    'history --limit 20',
    'history --status failed',
    'history workflow-3 --limit 20',
    'logs @latest',
    'list',
    'gc --keep 100000',
  ];
  return commands.map((command) => ({
    group,
    name: group,
    what: `wf ${command}, ${count.toLocaleString('en')} runs`,
    runs: 15,
    keepsHome: true,
    programs: (folder) => {
      const home = join(folder, 'home');
      if (!existsSync(join(home, 'runs'))) makeHistory(home, count);
      return { ours: wf(...command.split(' ')), peers: [bareNode(2)] };
    },
  }));
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
