import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ProcessIdentity } from '#core/run/run.ts';
import { identify, mayBeAlive } from '#processes/processes.ts';
import { playByWorkers, playLocally, type RunInHand, type Scenario } from '../../support/loopback/both-hosts.ts';
import { bundleWorker } from '../../support/loopback/bundle.ts';
import type { Story } from '../../support/loopback/story.ts';

const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
let worker = '';

beforeAll(async () => {
  worker = await bundleWorker(directory);
});
afterAll(() => rmSync(directory, { recursive: true }));

/** Makes the run with both hosts, which must tell the same story. */
async function playBoth(scenario: Scenario): Promise<Story> {
  const [story, local] = await Promise.all([playByWorkers(scenario, worker), playLocally(scenario)]);
  expect(story).toEqual(local);
  return story;
}

function workflow(text: string): Scenario['files'] {
  return { 'workflow.yaml': text };
}

/** How the run and its steps ended. */
function endsOf({ run, steps }: Story): readonly string[] {
  const last = run.at(-1) as { readonly status: string; readonly message: string };
  const ends = Object.entries(steps).map(([step, events]) => {
    const { status, message } = events.at(-1) as typeof last;
    return `${step}: ${status}${message === '' ? '' : `, ${message}`}`;
  });
  return [`${last.status}${last.message === '' ? '' : `, ${last.message}`}`, ...ends.sort()];
}

/** Resolves once the program of a step has made a file. */
function made({ folder }: Pick<RunInHand, 'folder'>, ...names: readonly string[]): Promise<void> {
  return expect.poll(() => names.every((name) => existsSync(join(folder, name)))).toBe(true);
}

const stubborn = `
MaxCleanUpTimeSec: 0.3
steps:
  - {name: listens, script: "exec 2>/dev/null; trap 'echo asked; exit 3' TERM; touch ready; while :; do sleep 0.02; done"}
  - {name: ignores, script: "trap '' TERM; touch deaf; while :; do sleep 0.02; done"}
  - {name: later, command: echo never, depends: listens}
handlerOn:
  abort: {command: 'echo "$WF_STATUS of $WF_FAILED_STEP"'}
  exit: {command: echo done}
`;

it('stops steps, kills what is left after the grace, and runs handlers', async () => {
  const act = async (run: RunInHand) => {
    await made(run, 'ready', 'deaf');
    run.cancel({ reason: 'stop', message: 'stopped by ann', force: false });
  };
  const story = await playBoth({ files: workflow(stubborn), act });
  expect(endsOf(story)).toEqual([
    'canceled, stopped by ann',
    'handlerOn.cancel: succeeded',
    'handlerOn.exit: succeeded',
    'ignores: canceled, stopped',
    'later: canceled, the run was stopped',
    'listens: canceled, stopped',
  ]);
  expect(story.steps['ignores']?.at(-1)).toMatchObject({ signal: 'SIGKILL' });
});

it('kills all steps at once', async () => {
  const files = workflow(`
steps:
  - {name: ignores, script: "trap '' TERM; touch deaf; while :; do sleep 0.02; done"}
  - {name: later, command: echo never, depends: ignores}
handlerOn: {exit: {command: echo never}}
`);
  const act = async (run: RunInHand) => {
    await made(run, 'deaf');
    run.cancel({ reason: 'stop', message: 'stopped by ann', force: true });
  };
  expect(endsOf(await playBoth({ files, act }))).toEqual([
    'canceled, stopped by ann',
    'ignores: canceled, stopped',
    'later: canceled, the run was stopped',
  ]);
});

it('ends at the time limit of the run', async () => {
  const files = workflow(`
timeoutSec: 0.3
steps:
  - {name: slow, command: sleep 60}
handlerOn: {failure: {command: 'echo "$WF_STATUS: $WF_ERROR"', output: SAID}}
`);
  const story = await playBoth({ files });
  expect(endsOf(story)).toEqual([
    'failed, timed out after 0.3s',
    'handlerOn.failure: succeeded',
    'slow: canceled, timed out',
  ]);
  expect(story.steps['handlerOn.failure']?.at(-1)).toMatchObject({ outputs: { SAID: 'failed: timed out after 0.3s' } });
});

it('continues with the answer to an approval', async () => {
  const files = workflow(`
handlerOn: {wait: {command: 'echo "waits for $WF_WAITING_STEPS"'}}
steps:
  - {name: plan, command: echo 3 changes, output: PLAN, approval: {prompt: "Apply $PLAN?", input: [TICKET]}}
  - {name: apply, command: echo "applied $PLAN for $TICKET", output: APPLIED, depends: plan}
`);
  const act = async (run: RunInHand) => {
    await run.when('step.finished', 'handlerOn.wait');
    run.answer({ step: 'plan', decision: 'approved', by: 'ann', comment: '', inputs: { TICKET: 'OPS-7' } });
  };
  const story = await playBoth({ files, act });
  expect(endsOf(story)).toEqual(['succeeded', 'apply: succeeded', 'handlerOn.wait: succeeded', 'plan: succeeded']);
  expect(story.steps['apply']?.at(-1)).toMatchObject({ outputs: { APPLIED: 'applied 3 changes for OPS-7' } });
});

it('retries after a wait, which a stop ends', async () => {
  const files = workflow(`
steps:
  - {name: second, command: "sh -c 'test $WF_ATTEMPT -gt 1'", retryPolicy: {limit: 2, intervalSec: 0.3}}
  - {name: never, command: exit 1, depends: second, retryPolicy: {limit: 1, intervalSec: 600}}
`);
  const act = async (run: RunInHand) => {
    await run.when('step.waiting', 'never');
    run.cancel({ reason: 'stop', message: 'stopped by ann', force: false });
  };
  const story = await playBoth({ files, act });
  expect(endsOf(story)).toEqual([
    'canceled, stopped by ann',
    'never: canceled, the run was stopped',
    'second: succeeded',
  ]);
  expect(story.steps['second']).toContainEqual(expect.objectContaining({ type: 'step.waiting', until: '0.3s' }));
});

it('ends the other instances of a fan-out after a failure', async () => {
  const files = workflow(`
steps:
  - name: ship
    parallel: {items: [one, two, three, four], maxConcurrent: 3, failFast: true}
    script: |
      test "$ITEM" = three || { touch $ITEM; exec sleep 60; }
      while ! test -f one -a -f two; do sleep 0.02; done
      exit 5
  - {name: beside, command: "sh -c 'while ! test -f one; do sleep 0.02; done'"}
`);
  expect(endsOf(await playBoth({ files }))).toEqual([
    'failed, step "ship" failed: 1 of 4 failed: three',
    'beside: succeeded',
    'ship: failed, 1 of 4 failed: three',
    'ship[four]: canceled, "ship[three]" failed',
    'ship[one]: canceled, stopped',
    'ship[three]: failed, exit 5',
    'ship[two]: canceled, stopped',
  ]);
});

it('passes outputs and results from step to step', async () => {
  const files = workflow(`
steps:
  - {name: a, command: echo one, output: ONE}
  - {name: b, command: 'echo ''{"x": [1, 2]}''', output: {x: {from: stdout, decode: json, select: .x}, kind: text}}
  - {name: c, command: "sh -c 'echo to the log >&2; exit 4'", continueOn: failed}
  - name: all
    depends: [a, b, c]
    command: 'echo "$ONE \${a.exitCode} \${a.status} \${c.exitCode} \${b.output.x[1]} \${b.output.kind} $(cat \${c.stderr})"'
    output: ALL
`);
  const story = await playBoth({ files });
  expect(story.steps['all']?.at(-1)).toMatchObject({ outputs: { ALL: 'one 0 succeeded 4 2 text to the log' } });
});

it('masks the secrets of all processes in journals and logs', async () => {
  const files = {
    'workflow.yaml': `
params: [TOKEN]
secrets: [TOKEN, MADE, {name: KEY, file: key.txt}]
steps:
  - {name: make, command: "printf 'made-%s' here", output: MADE}
  - {name: print, command: 'echo "$TOKEN $MADE $KEY"', output: PRINTED, depends: make}
  - {name: child, run: child, params: "WORD=$TOKEN", output: CHILD, depends: print}
  - {name: after, command: "printf 'of-the-%s' child; echo", depends: child}
`,
    'child.yaml': `
params: [WORD]
secrets: [OWN]
steps:
  - {name: own, command: "printf 'of-the-%s' child", output: OWN}
  - {name: tell, command: 'echo "$WORD and $OWN"', output: TOLD, depends: own}
`,
    'key.txt': 'in-a-file',
  };
  const story = await playBoth({ files, request: { params: [{ name: 'TOKEN', value: 'given-to-it' }] } });
  expect(endsOf(story)[0]).toBe('succeeded');
  expect(JSON.stringify(story)).not.toMatch(/given-to-it|made-here|in-a-file|of-the-child/);
  expect(story.children['child 1']?.steps['tell']?.at(-1)).toMatchObject({ outputs: { TOLD: '*** and ***' } });
});

it('fails with a sub-workflow that fails, or cannot start', async () => {
  const files = {
    'workflow.yaml': `
steps:
  - {name: data, command: "echo '{}'", output: DATA}
  - {name: child, run: child, params: "CODE=7", depends: data, continueOn: failed}
  - {name: missing, run: "no-$WF_WORKFLOW", depends: data, continueOn: failed}
  - {name: unknown, run: child, params: "CODE=\${DATA.code}", depends: data, continueOn: failed}
  - {name: named, run: "\${NAME:-child}", params: "CODE=0", depends: data}
`,
    'child.yaml': 'params: [CODE]\nsteps: [{name: ends, command: exit $CODE}]\n',
  };
  expect(endsOf(await playBoth({ files }))).toEqual([
    'partially_succeeded',
    'child: failed, step "ends": exit 7',
    'data: succeeded',
    'missing: failed, no workflow "no-workflow"',
    'named: succeeded',
    'unknown: failed, "${DATA.code}": DATA has no "code" (it is empty)',
  ]);
});

it('stops a sub-workflow with its step', async () => {
  const files = {
    'workflow.yaml': 'MaxCleanUpTimeSec: 60\nsteps: [{name: child, run: child}]\n',
    'child.yaml': `
steps: [{name: works, script: "touch begun; while :; do sleep 0.02; done"}]
handlerOn: {exit: {command: echo done}}
`,
  };
  const act = async (run: RunInHand) => {
    await made(run, 'begun');
    run.cancel({ reason: 'stop', message: 'stopped by ann', force: false });
  };
  const story = await playBoth({ files, act });
  expect(endsOf(story)).toEqual(['canceled, stopped by ann', 'child: canceled, stopped']);
  const child = story.children['child 1'];
  expect(child && endsOf(child)).toEqual([
    'canceled, the step that runs it was stopped',
    'handlerOn.exit: succeeded',
    'works: canceled, stopped',
  ]);
});

const sleeping = `
steps:
  - {name: slow, script: 'echo $$ > written; mv written pid; exec sleep 60', retryPolicy: {limit: 1, intervalSec: 0}}
  - {name: later, command: echo never, depends: slow}
handlerOn: {exit: {command: echo never}}
`;

/** Makes that run without the local host, and does something to its worker in the middle of an attempt. */
async function disturb(act: (worker: ChildProcess | undefined) => void): Promise<readonly string[]> {
  const workers: ChildProcess[] = [];
  const programs: (ProcessIdentity | null)[] = [];
  const scenario: Scenario = {
    files: workflow(sleeping),
    act: async (run) => {
      await made(run, 'pid');
      programs.push(identify(Number(readFileSync(join(run.folder, 'pid'), 'utf8'))));
      act(workers[0]);
    },
  };
  const story = await playByWorkers(scenario, worker, (_, started) => workers.push(started));
  expect(programs.map((program) => program && mayBeAlive(program))).toEqual([false]);
  return endsOf(story);
}

it('loses the attempts of a worker that dies, ends their programs, and starts no more', async () => {
  expect(await disturb((dying) => dying?.kill('SIGKILL'))).toEqual([
    'failed, step "slow" failed: the worker ended: SIGKILL',
    'handlerOn.exit: failed, the worker ended: SIGKILL',
    'later: upstream_failed, "slow" failed',
    'slow: failed, the worker ended: SIGKILL',
  ]);
});

it('ends the programs of a worker whose host is gone', async () => {
  expect(await disturb((leaving) => leaving?.disconnect())).toContain('slow: failed, the worker ended: exit 0');
});
