import type { Counter, Histogram, Registry } from 'prom-client';
import { firstItems } from '#core/data/collections.ts';
import { isSettled, stepNode } from '#core/run/run-state.ts';
import { allSteps, type Workflow } from '#core/workflow.ts';
import type { PastRun } from '#service/history.ts';
import type { LockEntry } from '#service/service.ts';

/** An answered request. `route`: the pattern of its path, `none` if no route was reached. */
export type CountedRequest = {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
};

/** Workflows with a label of their own; all others are counted as `other`. */
const MOST_WORKFLOWS = 1000;
const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const stepSeconds = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400];
const runSeconds = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 43_200, 86_400];

type MetricSources = {
  readonly version: string;
  readonly runsActive: () => number;
  /** The unfinished runs that are late. */
  readonly lateRuns: () => Promise<number>;
  readonly queueDepth: () => number;
  readonly schedulerLagSeconds: () => number;
  readonly schedulesMissed: () => number;
  readonly lockWaits: () => Promise<readonly LockWait[]>;
};

/** Those that wait for a lock or queue. `seconds`: how long the first of them has waited. */
export type LockWait = Pick<LockEntry, 'kind' | 'name'> & { readonly waiters: number; readonly seconds: number };

/** Locks with samples of their own, those with the longest waits first. */
const MAX_LOCKS = 1000;

/** Returns the waits of locks, longest first. `now`: in milliseconds since 1970. Locks within others count for these. */
export function lockWaits(locks: readonly LockEntry[], now: number): readonly LockWait[] {
  const waits = new Map<string, LockWait>();
  for (const { kind, name, waiters } of locks) {
    const known = waits.get(`${kind} ${name}`) ?? { kind, name, waiters: 0, seconds: 0 };
    const first = Math.min(now, ...waiters.map(({ since }) => Date.parse(since)));
    const seconds = Math.max(known.seconds, (now - first) / 1000);
    if (waiters.length > 0)
      waits.set(`${kind} ${name}`, { ...known, waiters: known.waiters + waiters.length, seconds });
  }
  return [...waits.values()].sort((one, other) => other.seconds - one.seconds).slice(0, MAX_LOCKS);
}

/** Creates metrics that begin at zero. */
export async function createMetrics(sources: MetricSources): Promise<Metrics> {
  return new Metrics(await import('prom-client'), sources);
}

/** The metrics of a daemon for Prometheus. */
export class Metrics {
  readonly #registry: Registry;
  readonly #requests: Histogram;
  readonly #runs: Counter;
  readonly #runDurations: Histogram;
  readonly #steps: Counter;
  readonly #stepDurations: Histogram;
  /** The finished runs that were late. */
  #finishedLate = 0;
  readonly #workflowLabel = boundedLabel(MOST_WORKFLOWS);

  constructor(prometheus: typeof import('prom-client'), sources: MetricSources) {
    this.#registry = new prometheus.Registry();
    const registers = [this.#registry];
    const counter = (name: string, help: string, labelNames: string[]) =>
      new prometheus.Counter({ name, help, labelNames, registers });
    const seconds = (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
      new prometheus.Histogram({ name, help, labelNames, buckets, registers });
    addPresent(prometheus, registers, {
      ...sources,
      lateRuns: async () => this.#finishedLate + (await sources.lateRuns()),
    });
    const labels = ['method', 'route', 'status'];
    const help = 'Duration of requests, by the pattern of their path.';
    this.#requests = seconds('wf_http_request_duration_seconds', help, requestSeconds, labels);
    this.#runs = counter('wf_runs_total', 'Finished runs, by workflow and status.', ['workflow', 'status']);
    const runsHelp = 'Duration of runs from start to finish.';
    this.#runDurations = seconds('wf_run_duration_seconds', runsHelp, runSeconds);
    const stepsHelp = 'Steps and handlers of finished runs, by executor and status.';
    this.#steps = counter('wf_steps_total', stepsHelp, ['executor', 'status']);
    this.#stepDurations = seconds('wf_step_duration_seconds', 'Duration of steps, all attempts included.', stepSeconds);
  }

  readonly countRequest = ({ seconds, status, ...labels }: CountedRequest): void =>
    this.#requests.observe({ ...labels, status: String(status) }, seconds);

  /** Counts a finished run. Call it once for each run. */
  countRun({ state, stored }: PastRun): void {
    this.#runs.inc({ workflow: this.#workflowLabel(state.workflow), status: state.status });
    observe(this.#runDurations, state);
    if (state.lateAt !== undefined) this.#finishedLate += 1;
    const executors = executorsOf(stored?.workflow ?? null);
    for (const step of firstItems(state.nodes, state.nodes.length)) {
      // A retry restores steps of the run that it retries.
      if (!isSettled(step) || step.restored || step.instances !== undefined) continue;
      const { name, status } = step;
      const executor = executors.get(stepNode(state, name).instanceOf ?? name) ?? 'unknown';
      this.#steps.inc({ executor, status });
      observe(this.#stepDurations, step);
    }
  }

  readonly read = async (): Promise<{ readonly contentType: string; readonly text: string }> => ({
    contentType: this.#registry.contentType,
    text: await this.#registry.metrics(),
  });
}

function observe(durations: Histogram, times: Record<'startedAt' | 'finishedAt', number | null>): void {
  const { startedAt, finishedAt } = times;
  if (startedAt !== null && finishedAt !== null) durations.observe(Math.max(0, finishedAt - startedAt) / 1000);
}

function executorsOf(workflow: Workflow | null): ReadonlyMap<string, string> {
  if (workflow === null) return new Map();
  return new Map(allSteps(workflow).map(({ name, executor }) => [name, executor.type]));
}

/** Registers gauges for current values. */
function addPresent(
  { Counter, Gauge }: typeof import('prom-client'),
  registers: Registry[],
  sources: MetricSources,
): void {
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value());
      },
    });
  gauge('wf_runs_active', 'Running runs, whatever started them.', sources.runsActive);
  gauge('wf_queue_depth', 'Runs waiting to be started.', sources.queueDepth);
  gauge('wf_scheduler_lag_seconds', 'Delay of the last handled due time.', sources.schedulerLagSeconds);
  const ofLocks = (name: string, help: string, value: (wait: LockWait) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['kind', 'lock'],
      registers,
      async collect() {
        const waits = await sources.lockWaits();
        this.reset();
        for (const wait of waits) this.set({ kind: wait.kind, lock: wait.name }, value(wait));
      },
    });
  ofLocks('wf_lock_waiters', 'Runs and steps that wait for a lock or a queue.', ({ waiters }) => waiters);
  const waitHelp = 'How long the first of them has waited.';
  ofLocks('wf_lock_wait_seconds', waitHelp, ({ seconds }) => seconds);
  new Counter({
    name: 'wf_schedule_missed_total',
    help: 'Due times of schedules that were missed.',
    registers,
    collect() {
      this.reset();
      this.inc(sources.schedulesMissed());
    },
  });
  new Counter({
    name: 'wf_runs_late_total',
    help: 'Runs that were not finished, or not started, in time.',
    registers,
    async collect() {
      const count = await sources.lateRuns();
      this.reset();
      this.inc(count);
    },
  });
  new Gauge({
    name: 'wf_build_info',
    help: 'The version of this program, and of Node.',
    labelNames: ['version', 'node'],
    registers,
  }).set({ version: sources.version, node: process.versions.node }, 1);
}

/** Limits the values of a label to `most`; later values become `other`. */
export function boundedLabel(most: number): (value: string) => string {
  const known = new Set<string>();
  return (value) => {
    if (known.has(value)) return value;
    if (known.size >= most) return 'other';
    known.add(value);
    return value;
  };
}
