import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { blocksOf } from '../../docs/guide-blocks.ts';
import { play } from '../../docs/guide-player.ts';
import { playLocally, playOnEngine, type RunInHand, type Scenario } from '../../support/loopback/both-hosts.ts';
import { describeWith } from '../../support/require.ts';
import { hasTemporal, type StartedWorker, temporalWorld } from '../../support/temporal.ts';
import type { Ended, RunningWf } from '../../support/wf.ts';

const scenarios: Readonly<Record<string, string>> = {
  'variables, outputs, items, retries, conditions and handlers': `
params: WHO=world
env:
  - STAMP: "\`echo evaluated\`"
type: graph
steps:
  - {name: hello, command: 'echo "hello $WHO $STAMP"', output: GREETING}
  - {name: list, command: 'echo one; echo two', output: LIST}
  - {name: each, command: 'echo "item $ITEM of $WF_ITEM_COUNT"', depends: list, parallel: {items: $LIST, maxConcurrent: 1}}
  - {name: flaky, script: 'test "$WF_ATTEMPT" = 2', retryPolicy: {limit: 2, intervalSec: 0.1}}
  - {name: fails, command: 'sh -c "echo bad >&2; exit 3"', continueOn: {exitCode: [3]}, depends: flaky}
  - {name: skipped, command: echo never, preconditions: [{condition: $WHO, expected: nobody}]}
  - {name: again, command: 'echo round $WF_ATTEMPT', repeatPolicy: {limit: 2, intervalSec: 0}}
  - {name: end, command: 'echo "got $GREETING"', depends: [each, fails, again]}
handlerOn:
  init: {command: echo first}
  success: {command: 'echo "$WF_STATUS"'}
  exit: {command: echo last}
`,
  'a failure, what depends on it, and the handlers': `
steps:
  - {name: breaks, command: 'sh -c "echo why; exit 7"'}
  - {name: later, command: echo never, depends: breaks}
handlerOn:
  failure: {command: 'echo "$WF_FAILED_STEP: $WF_ERROR"', output: SAID}
  exit: {command: echo done}
`,
  'time limits of a step and of the run': `
timeoutSec: 3
steps:
  - {name: short, command: sleep 60, timeoutSec: 0.3, continueOn: {failure: true}}
  - {name: long, command: sleep 60}
`,
  'services, and the steps that use them': `
steps:
  - {name: api, service: {readyWhen: {line: up}}, script: 'echo from-api > shared; echo up; exec sleep 60'}
  - {name: cache, service: {readyWhen: {command: test -e shared}}, command: sleep 60, depends: api}
  - {name: test, script: 'cat shared', depends: [api, cache], output: SEEN}
  - {name: end, command: 'echo "$SEEN"', depends: test}
handlerOn:
  exit: {script: 'cat shared'}
`,
  'a service that is not ready': `
steps:
  - {name: api, service: {readyWhen: {line: never}, timeoutSec: 0.3}, command: sleep 60}
  - {name: test, command: echo never, depends: api}
`,
  'a service that ends before it is ready, and again': `
steps:
  - {name: api, service: {readyWhen: {line: up}}, script: 'test "$WF_ATTEMPT" = 2 || exit 4; echo up; exec sleep 60', retryPolicy: {limit: 1, intervalSec: 0.1}}
  - {name: test, script: 'sleep 0.5', depends: api}
`,
  'a precondition of the run': `
preconditions: [{condition: "\`echo no\`", expected: yes}]
steps: [{name: never, command: echo never}]
`,
  'a parameter that cannot be evaluated': `
params: "A=\`exit 4\`"
steps: [{name: never, command: 'echo $A'}]
`,
};

const approval = `
steps:
  - {name: plan, command: echo 3 changes, output: PLAN, approval: {prompt: "Apply $PLAN?", input: [TICKET]}}
  - {name: apply, command: 'echo "applied $PLAN for $TICKET"', depends: plan}
`;

describeWith('temporal', hasTemporal, 'runs on Temporal', () => {
  const workers: StartedWorker[] = [];
  let waited: Ended | null = null;
  const world = temporalWorld(async (server) => {
    const early = run('steps: [{name: a, command: echo}]');
    await early.until('no worker serves');
    workers.push(await server.worker('one'));
    waited = await early.ended;
  });

  /** Starts `wf run` of a text, in a directory of its own. */
  function run(text: string, options: readonly string[] = []): RunningWf {
    const { start } = world.place({ 'work.yaml': text });
    return start('run', 'work.yaml', '--engine', world.server.url, '--reporter', 'plain', ...options);
  }

  async function playBoth(text: string, act?: Scenario['act']): Promise<void> {
    const scenario: Scenario = { files: { 'workflow.yaml': text }, ...(act === undefined ? {} : { act }) };
    const local = await playLocally(scenario);
    expect(await playOnEngine(scenario, world.server.url)).toEqual(local);
  }

  it.each(Object.entries(scenarios))('go as they go here: %s', async (_, text) => playBoth(text));

  it('continue with an answer', () =>
    playBoth(approval, async (inHand: RunInHand) => {
      await inHand.when('step.held', 'plan');
      inHand.answer({ step: 'plan', decision: 'approved', by: 'ann', comment: '', inputs: { TICKET: 'OPS-7' } });
    }));

  it('stop a service after the steps that use it', () =>
    playBoth(
      `
steps:
  - {name: api, service: {readyWhen: {line: up}}, script: "trap 'sleep 0.3; echo ended; exit 0' TERM; echo up; while :; do sleep 0.05; done"}
  - {name: test, script: "trap 'echo stopped; exit 1' TERM; echo testing; while :; do sleep 0.05; done", depends: api}
`,
      async (inHand: RunInHand) => {
        await inHand.when('step.started', 'test');
        inHand.cancel({ reason: 'stop', message: 'stopped by the test', force: false });
      },
    ));

  it('mask secrets of the worker in everything that is stored', async () => {
    const text = `
env: [{TOKEN: "\`echo s3cr3t-of-worker\`"}]
secrets: [TOKEN]
steps: [{name: shows, command: 'echo "the token is $TOKEN"', output: SAID}]
`;
    const started = run(text);
    const { code, stdout } = await started.ended;
    expect({ code, isMasked: stdout.includes('the token is ***') }).toEqual({ code: 0, isMasked: true });
    const [home = ''] = readdirSync(world.directory)
      .filter((name) => name.startsWith('run-'))
      .sort()
      .slice(-1);
    const files = readdirSync(join(world.directory, home), { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    const texts = files
      .filter(({ name }) => name !== 'work.yaml')
      .map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'));
    expect(texts.filter((stored) => stored.includes('s3cr3t-of-worker'))).toEqual([]);
  });

  it('stop with their handlers, and leave no process behind', async () => {
    const started = run(`
steps: [{name: waits, script: "trap 'echo asked; exit 1' TERM; echo ready > ready; sleep 61 & wait"}]
handlerOn: {cancel: {command: echo cleaned}}
`);
    await started.until('START');
    await madeOnWorker('ready');
    started.kill('SIGINT');
    const { code, stdout } = await started.ended;
    expect({ code, asked: stdout.includes('| asked'), cleaned: stdout.includes('| cleaned') }).toEqual({
      code: 130,
      asked: true,
      cleaned: true,
    });
    expect(processesWith('sleep 61')).toEqual([]);
  });

  it('are killed by a second request', async () => {
    const started = run(`
steps: [{name: deaf, script: "trap '' TERM INT; echo deaf > deaf; while :; do sleep 0.05; done"}]
handlerOn: {exit: {command: echo never}}
`);
    await started.until('START');
    await madeOnWorker('deaf');
    started.kill('SIGINT');
    await started.until('STOP');
    started.kill('SIGINT');
    const { code, stdout } = await started.ended;
    expect({ code, handled: stdout.includes('| never') }).toEqual({ code: 130, handled: false });
  });

  it('try a step again elsewhere when its worker dies, with nothing left of the first attempt', async () => {
    workers.push(await world.server.worker('two'));
    const counter = join(world.directory, 'counted.txt');
    const started = run(
      `
steps:
  - name: work
    script: 'echo "begin $WF_ATTEMPT $WORKER" >> "${counter}"; sleep 3; echo "end $WF_ATTEMPT $WORKER" >> "${counter}"'
    retryPolicy: {limit: 3, intervalSec: 0}
`,
      ['--lost-after', '3'],
    );
    const holder = await holderOf(counter);
    holder.kill('SIGKILL');
    const { code, stdout } = await started.ended;
    expect({ code, lost: stdout.includes(`the worker "${holder.name}" was lost`) }).toEqual({ code: 0, lost: true });
    const lines = readFileSync(counter, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' ').slice(0, 2).join(' '));
    expect(lines).toEqual(['begin 1', 'begin 2', 'end 2']);
    workers.splice(workers.indexOf(holder), 1);
  });

  it('count an attempt as lost when its worker was frozen for long', async () => {
    const counter = join(world.directory, 'frozen.txt');
    const started = run(
      `
steps:
  - name: work
    script: 'sleep $((WF_ATTEMPT == 1 ? 67 : 0)) & echo "begin $WF_ATTEMPT $WORKER" >> "${counter}"; wait'
    retryPolicy: {limit: 3, intervalSec: 0}
`,
      ['--lost-after', '20'],
    );
    const frozen = await holderOf(counter);
    frozen.kill('SIGSTOP');
    await expect.poll(() => processesWith('sleep 67')).toEqual([]);
    frozen.kill('SIGCONT');
    const { code, stdout } = await started.ended;
    expect({ code, lost: stdout.includes('did not reach the engine') }).toEqual({ code: 0, lost: true });
  });

  it('record the result of a step that runs for much longer than a lost worker is waited for', async () => {
    const started = run('steps: [{name: long, command: sleep 10}]', ['--lost-after', '2']);
    const { code, stdout } = await started.ended;
    expect({ code, isLost: stdout.includes('lost') }).toEqual({ code: 0, isLost: false });
  });

  it('say that no worker takes their steps, and wait for one', () => {
    expect(waited).toMatchObject({ code: 0, stdout: expect.stringContaining('no worker serves the queue "wf"') });
  });

  it('leave programs in the background alone that a step keeps, and end others, also when their worker is killed', {
    timeout: 180_000,
  }, async () => {
    const keeper = await world.server.worker('keeper', { args: ['--labels', 'keeps=true'] });
    const start = (seconds: number, keys = '') =>
      `{name: s${seconds}, ${keys} script: 'cd /; sleep ${seconds} >/dev/null 2>&1 & echo $!', output: PID${seconds}}`;
    const text = (last: string) => `
workerSelector: {keeps: "true"}
steps:
  - ${start(701, 'leaveBackground: true,')}
  - ${start(702)}
  - {name: last, depends: [s701, s702], script: '${last}', output: DONE}
`;
    const kept = () => processesWith('sleep 701').length;
    onTestFinished(() => {
      for (const pid of pidsOf('sleep 701')) process.kill(pid, 'SIGKILL');
    });
    expect((await run(text('true')).ended).code).toBe(0);
    expect([kept(), processesWith('sleep 702').length]).toEqual([1, 0]);

    const lost = run(text('exec sleep 703'), ['--lost-after', '3']);
    await expect.poll(() => processesWith('sleep 703')).toHaveLength(1);
    keeper.kill('SIGKILL');
    await world.server.worker('next', { args: ['--labels', 'keeps=true'] });
    expect((await lost.ended).code).toBe(1);
    await expect.poll(() => processesWith('sleep 703').length + processesWith('sleep 702').length).toBe(0);
    expect(kept()).toBe(2);
  });

  it('refuse what the engine does not support, before anything is stored', async () => {
    const text = `
steps:
  - {name: checks, command: sleep 9, sources: a.txt}
  - {name: outside, dir: /tmp, command: pwd}
`;
    const { cwd, call } = world.place({ 'work.yaml': text });
    const { code, stderr } = await call('run', 'work.yaml', '--engine', world.server.url);
    expect({ code, error: stderr.split('\n').find((line) => line.startsWith('error')) }).toEqual({
      code: 2,
      error: 'error: the engine does not support "sources" of step "checks", "dir" of step "outside"',
    });
    expect(existsSync(join(cwd, 'home/runs'))).toBe(false);
  });

  it.each([
    ['an address that does not answer', 'temporal://127.0.0.1:1', 'cannot be reached: 127.0.0.1:1'],
    ['a namespace that does not exist', '/nowhere', 'the engine has no namespace "nowhere"'],
  ])('name %s', async (_, address, problem) => {
    const { call } = world.place({ 'work.yaml': 'steps: [{name: a, command: echo}]' });
    const url = address.startsWith('/') ? `${world.server.url}${address}` : address;
    const { code, stderr } = await call('run', 'work.yaml', '--engine', url);
    expect({ code, named: stderr.includes(problem) }).toEqual({ code: 2, named: true });
  });

  it('go as the guide says', { timeout: 180_000 }, async () => {
    const page = readFileSync(join(import.meta.dirname, '../../../docs/guide/more-than-one-machine.md'), 'utf8');
    const blocks = blocksOf(page).map((block) => ({
      ...block,
      words: new Set(block.words.has('norun') ? ['run'] : []),
    }));
    const place = mkdtempSync(join(world.directory, 'guide-'));
    const logs = join(place, 'logs');
    mkdirSync(logs);
    const token = join(place, 'logs.token');
    writeFileSync(token, 'a-token-of-workers-that-is-long-enough');
    const played = await play(blocks, place, async (script) => {
      const own = script
        .replaceAll('127.0.0.1:7233', world.server.url.replace('temporal://', ''))
        .replaceAll('/shared/logs', logs)
        .replaceAll('logs.token', token)
        .replaceAll('https://ops.example.com', 'http://127.0.0.1:1');
      // What sets up a machine: its programs, a server and a service.
      if (/^(?:npm install|temporal server|useradd) /.test(own)) return ':';
      // The workers of this test keep no artifacts.
      if (/^wf run .*parts\.yaml/m.test(own)) return own.replace(/^wf worker .*\n/m, '').replace('wf run', 'wf dry');
      // Workers and daemons serve until they are stopped.
      return own
        .replace(/^wf worker .*$/m, (line) => stoppedOnceReady(`${line} --name guide --drain 1`))
        .replace(/^wf serve.*$/m, (line) => stoppedOnceReady(line.replace('9000', '0')));
    });
    expect(played.map(({ code, exit }) => [code, exit]).filter(([code, exit]) => code !== exit)).toEqual([]);
    expect(played.map(({ printed }) => printed).join('')).toContain('trained for 3 epochs, prepared on');
  });

  /** A script that starts a command, stops it when it serves, and has its output and exit code. */
  function stoppedOnceReady(command: string): string {
    return `
rm -f served
${command} >served 2>&1 & pid=$! code=0
until grep -qs ' serves ' served || ! kill -0 $pid; do sleep 0.1; done
kill -TERM $pid || true
wait $pid || code=$?
cat served
[ $code -eq 0 ] || exit $code`;
  }

  /** Resolves when a program of a step has made a file on a worker. */
  function madeOnWorker(name: string): Promise<void> {
    const all = () => workers.flatMap(({ directory: runs }) => readdirSync(runs, { recursive: true }).map(String));
    return expect.poll(() => all().some((path) => basename(path) === name)).toBe(true);
  }

  /** The worker of the attempt that the step has noted. */
  async function holderOf(counter: string): Promise<StartedWorker> {
    await expect.poll(() => existsSync(counter) && readFileSync(counter, 'utf8')).toContain('begin 1');
    const [, name] = /begin 1 (\w+)/.exec(readFileSync(counter, 'utf8')) ?? [];
    const holder = workers.find((worker) => worker.name === name);
    if (holder === undefined) throw new Error(`there is no worker "${name}"`);
    return holder;
  }
});

/** The processes of this machine with a command line, once for each. */
function processesWith(text: string): readonly string[] {
  return pidsOf(text).map(() => text);
}

/** The ids of these processes. */
function pidsOf(text: string): readonly number[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() === text ? [Number(pid)] : [];
    } catch {
      return [];
    }
  });
}
