import { evolve } from '#core/run/evolve.ts';
import type { RunCreated, RunEvent, StoredEvent } from '#core/run/run.ts';
import type { Workflow } from '#core/workflow.ts';
import { DrivenRun } from '../support/driven-run.ts';
import { canceled, failure, skip, success } from '../support/outcome.ts';
import { handler, step, type WorkflowSettings, workflow } from '../support/workflow.ts';

/** A workflow and the journal of one run of it. */
export type Recording = { readonly workflow: Workflow; readonly events: readonly StoredEvent[] };

/**
 * How the recorded histories were made. An existing history is never made again, since its purpose is to be written by
 * an older version. To add one, add an entry here and run with `WF_UPDATE_GOLDENS=1`.
 */
export const recordings: { readonly [name: string]: () => Recording } = {
  'retried-step-then-success': () => {
    const recorder = new Recorder({
      steps: [
        step('fetch', { retry: { limit: 2, intervalMs: 1000 }, output: 'VERSION' }),
        step('lint', { continueOn: { failure: true, skipped: false } }),
        step('notify', { preconditions: [{ condition: '$DAY', expected: 'Sunday' }] }),
        step('build', { depends: ['fetch', 'lint'] }),
      ],
      handlers: { success: handler('success'), exit: handler('exit') },
      delayMs: 100,
    });
    const { run } = recorder;
    recorder.create({ trigger: 'cli', retryOf: null });
    run.start();
    run.begin('fetch');
    run.now += 40;
    run.end('fetch', failure({ message: 'exit 7', exitCode: 7 }));
    run.now += 60;
    run.endDelay();
    run.begin('lint');
    run.now += 100;
    run.endDelay();
    run.end('notify', skip('"$DAY" is not "Sunday"'));
    recorder.tell({ type: 'run.warned', at: run.now, step: 'lint', message: 'its output was cut' });
    run.now += 800;
    run.end('lint', failure({ reason: 'signal', message: 'killed by SIGSEGV', exitCode: 139, signal: 'SIGSEGV' }));
    run.now += 40;
    run.fire('fetch');
    run.begin('fetch');
    run.now += 20;
    run.end('fetch', success({ VERSION: '1.2.3' }));
    run.now += 80;
    run.endDelay();
    run.begin('build');
    run.succeed('build', 'handlerOn.success', 'handlerOn.exit');
    return recorder.recording;
  },

  'step-with-sources-that-runs-and-one-that-is-up-to-date': () => {
    const upToDate = { sources: ['src/**'], generates: [], method: 'checksum' } as const;
    const recorder = new Recorder({
      steps: [step('build', { upToDate, retry: { limit: 1, intervalMs: 100 } }), step('lint', { upToDate })],
    });
    const { run } = recorder;
    const check = (attempt: number, more: { readonly more?: number; readonly from?: string }) => {
      const reason = [{ kind: 'source', name: 'src/a.ts', change: 'added' } as const];
      run.send({ type: 'attempt-checked', at: run.now, step: 'build', attempt, reason, ...more });
    };
    recorder.create({ trigger: 'cli', retryOf: null });
    run.start();
    check(1, { more: 2, from: 'r0' });
    run.begin('build');
    run.now += 50;
    const upToDateReport = { outcome: success({ OUT: 'x' }), upToDate: { from: 'r0', savedMs: 1200 } };
    run.send({ type: 'attempt-ended', at: run.now, step: 'lint', attempt: 1, ...upToDateReport });
    run.end('build', failure());
    run.fire('build');
    check(2, { from: 'r0' });
    run.begin('build');
    run.succeed('build');
    return recorder.recording;
  },

  'kept-files': () => {
    const recorder = new Recorder({
      steps: [step('build', { artifacts: [{ path: 'dist', when: 'always' }], retry: { limit: 1, intervalMs: 100 } })],
    });
    const { run } = recorder;
    const file = (path: string) => ({ path, bytes: path.length, sha256: '0'.repeat(64) });
    const end = { type: 'attempt-ended', step: 'build' } as const;
    recorder.create({ trigger: 'cli', retryOf: null });
    run.start();
    run.begin('build');
    run.send({ ...end, at: run.now, attempt: 1, outcome: failure(), kept: [file('a'), file('log')] });
    run.fire('build');
    run.begin('build');
    run.send({ ...end, at: run.now, attempt: 2, outcome: success(), kept: [file('dist/a.js')] });
    return recorder.recording;
  },

  'waits-for-a-lock': () => {
    const recorder = new Recorder({ steps: [step('load')] });
    const { run } = recorder;
    const holder = { runId: 'r0', workflow: 'deploy', step: 'copy', since: run.now };
    const blocked = { type: 'run.blocked', why: 'lock', name: 'deploy-prod' } as const;
    recorder.create({ trigger: 'cli', retryOf: null }, [
      { ...blocked, at: run.now, holder },
      { ...blocked, at: run.now + 10_000, holder: null },
    ]);
    return recorder.recording;
  },

  'late-before-and-after-its-start': () => {
    const recorder = new Recorder({ late: { afterMs: 500, by: '06:30' }, steps: [step('load', { lateMs: 200 })] });
    const { run } = recorder;
    recorder.create({ trigger: 'schedule', retryOf: null, scheduledFor: 900, startBy: 1400, lateBy: 9000 });
    run.now += 500;
    run.send({ type: 'late-due', at: run.now, step: null });
    run.start();
    run.begin('load');
    run.now += 200;
    run.send({ type: 'late-due', at: run.now, step: 'load' });
    run.succeed('load');
    return recorder.recording;
  },

  'queue-of-a-child': () => {
    const recorder = new Recorder({ steps: [step('load'), step('check', { depends: ['load'] })] });
    const { run } = recorder;
    recorder.create({ trigger: 'cli', retryOf: null });
    run.start();
    const holder = { runId: 'r0', workflow: 'load', step: null, since: run.now };
    const asked = { step: 'load', attempt: 1 };
    run.now += 20;
    run.send({ type: 'attempt-blocked', at: run.now, ...asked, why: 'queue', name: 'db', holder, report: 1 });
    run.now += 10_000;
    const next = { ...holder, runId: 'r1', since: run.now, unknown: 'process 7 on "b2"' };
    run.send({ type: 'attempt-blocked', at: run.now, ...asked, why: 'queue', name: 'db', holder: next, report: 2 });
    run.now += 500;
    run.send({ type: 'attempt-acquired', at: run.now, ...asked, report: 2 });
    run.succeed('load');
    run.begin('check');
    run.now += 5;
    run.send({
      type: 'attempt-blocked',
      at: run.now,
      step: 'check',
      attempt: 1,
      why: 'lock',
      name: 'deploy',
      holder: null,
      report: 1,
    });
    return recorder.recording;
  },

  'stopped-then-forced': () => {
    const recorder = new Recorder({
      steps: [
        step('serve', { repeat: { intervalMs: 500 } }),
        step('work'),
        step('after', { depends: ['work'] }),
        step('flaky', { retry: { limit: 1, intervalMs: 5000 } }),
      ],
      handlers: { cancel: handler('cancel'), exit: handler('exit') },
      maxActiveSteps: 3,
    });
    const { run } = recorder;
    recorder.create({ trigger: 'schedule', retryOf: null });
    run.start();
    for (const name of ['serve', 'work', 'flaky']) run.begin(name);
    run.now += 250;
    run.end('serve', success({ COUNT: '1' }));
    run.fail('flaky');
    run.now += 250;
    run.cancel('stop');
    run.now += 100;
    run.end('work', canceled());
    run.begin('handlerOn.cancel');
    run.cancel('stop', true);
    run.end('handlerOn.cancel', canceled());
    return recorder.recording;
  },

  'retry-that-fails-again': () => {
    const recorder = new Recorder({
      steps: [step('a'), step('b', { depends: ['a'] }), step('c', { depends: ['b'] }), step('other')],
      handlers: { failure: handler('failure') },
    });
    const { run } = recorder;
    recorder.create({ trigger: 'api', retryOf: 'history-0' });
    run.start([
      { step: 'a', status: 'succeeded', outputs: { A: '1' } },
      { step: 'other', status: 'skipped', outputs: {} },
    ]);
    const process = { pid: 4343, startTime: 1300, boot: '0f0e' };
    run.send({ type: 'attempt-started', at: run.now, step: 'b', attempt: 1, process });
    run.now += 1500;
    run.end('b', failure({ reason: 'timeout', message: 'timed out after 1.5s', exitCode: 143, signal: 'SIGTERM' }));
    run.fail('handlerOn.failure');
    return recorder.recording;
  },

  'service-in-a-container': () => {
    const service = { readyWhen: null, intervalMs: 1000, timeoutMs: 60_000 };
    const recorder = new Recorder({ steps: [step('db', { service }), step('test', { depends: ['db'] })] });
    const { run } = recorder;
    recorder.create({ trigger: 'cli', retryOf: null });
    run.start();
    run.begin('db');
    run.now += 100;
    const container = { id: '4f1d2c', image: 'postgres:17' };
    const daemon = 'unix:///var/run/docker.sock';
    run.send({ type: 'attempt-contained', at: run.now, step: 'db', attempt: 1, container, daemon });
    run.now += 900;
    run.serve('db');
    run.begin('test');
    run.now += 500;
    run.succeed('test');
    run.end('db', canceled());
    return recorder.recording;
  },

  'instances-canceled-by-a-failure': () => {
    const recorder = new Recorder({
      steps: [
        step('ship', { fanOut: { items: ['a', 'b', 'c', 'd'], maxConcurrent: 2, failFast: true }, output: 'SHIPPED' }),
        step('check', { fanOut: { items: '$HOSTS', maxConcurrent: 10, failFast: false }, depends: ['ship'] }),
      ],
    });
    const { run } = recorder;
    recorder.create({ trigger: 'cli', retryOf: 'history-0' });
    const items = ['a', 'b', 'c', 'd'].map((key) => ({ key, value: { name: key, port: 80 } }));
    run.start([
      { step: 'ship', items, instances: [{ step: 'ship[a]', status: 'succeeded', outputs: { SHIPPED: 'a is up' } }] },
    ]);
    run.begin('ship[b]');
    run.begin('ship[c]');
    run.fail('ship[b]');
    run.end('ship[c]', canceled());
    return recorder.recording;
  },

  'queued-then-failed-then-marked': () => {
    const recorder = new Recorder({
      steps: [step('extract'), step('load', { depends: ['extract'] }), step('report', { depends: ['load'] })],
    });
    const { run } = recorder;
    const by = { host: 'example', pid: 41, startTime: 12, boot: '0f0e' };
    recorder.create({ trigger: 'api', retryOf: null }, [{ type: 'run.queued', at: run.now, by, lasting: true }]);
    run.start();
    run.succeed('extract');
    run.fail('load');
    run.now += 60_000;
    run.send({ type: 'mark', at: run.now, step: 'load', status: 'succeeded', by: 'ann (wf mark)' });
    run.send({ type: 'mark', at: run.now, step: 'extract', status: 'failed', by: 'ann (wf mark)' });
    return recorder.recording;
  },

  'held-then-answered': () => {
    const approval = { prompt: 'Ship?', inputs: [], by: ['ann'], timeoutMs: 60_000, onTimeout: 'reject' } as const;
    const recorder = new Recorder({
      steps: [step('go', { approval }), step('again', { approval }), step('ship', { depends: ['go'] })],
    });
    const { run } = recorder;
    recorder.create({ trigger: 'cli', retryOf: null });
    run.start();
    run.begin('go');
    run.now += 40;
    run.end('go', success({ SUM: '9' }), 1, { prompt: 'Ship 9?' });
    run.succeed('again');
    run.now += 1000;
    run.answer('go', 'approved', { WHY: 'it is time' });
    run.succeed('ship');
    run.now += 59_000;
    run.send({ type: 'timer-fired', at: run.now, step: 'again', attempt: 1 });
    return recorder.recording;
  },

  'announced-twice': () => {
    const approval = { prompt: '', inputs: [], by: [], timeoutMs: 0, onTimeout: 'reject' } as const;
    const recorder = new Recorder({
      steps: [step('go', { approval }), step('again', { approval, depends: ['go'] })],
      handlers: { wait: handler('wait'), exit: handler('exit') },
    });
    const { run } = recorder;
    recorder.create({ trigger: 'cli', retryOf: null });
    run.start();
    run.succeed('go');
    run.begin('handlerOn.wait');
    run.now += 100;
    run.fail('handlerOn.wait');
    run.answer('go', 'approved');
    run.succeed('again');
    run.now += 100;
    run.begin('handlerOn.wait');
    run.answer('again', 'approved');
    run.succeed('handlerOn.exit', 'handlerOn.wait');
    return recorder.recording;
  },
};

/** Collects the events of a driven run in order, together with the events that its engine adds. */
class Recorder {
  readonly run: DrivenRun;
  readonly #workflow: Workflow;

  constructor(settings: WorkflowSettings) {
    this.#workflow = workflow(settings);
    this.run = new DrivenRun(settings);
  }

  /** `before`: what happens before a process owns the run. */
  create(
    how: Pick<RunCreated, 'trigger' | 'retryOf' | 'scheduledFor' | 'startBy' | 'lateBy'>,
    before: readonly RunEvent[] = [],
  ): void {
    const { name, group, file } = this.#workflow;
    const at = this.run.now;
    const given = [{ name: 'TARGET', value: 'a b' }];
    const owner = { host: 'example', pid: 4242, startTime: 1234, boot: '0f0e' };
    this.tell({ type: 'run.created', at, runId: 'history-1', workflow: name, group, file, params: given, ...how });
    for (const event of before) this.tell(event);
    this.tell({ type: 'run.owned', at, owner });
    this.tell({ type: 'run.prepared', at, params: [...given, { name: null, value: 'default' }] });
  }

  tell(event: RunEvent): void {
    this.run.state = evolve(this.run.state, event);
    this.run.events.push(event);
  }

  get recording(): Recording {
    return { workflow: this.#workflow, events: this.run.events.map((event, index) => ({ ...event, seq: index + 1 })) };
  }
}
