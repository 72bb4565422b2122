import type { Counter, Histogram, Registry } from 'prom-client';
import { firstItems } from '#core/data/collections.ts';
import { isSettled, stepNode } from '#core/run/run-state.ts';
import { allSteps, type Workflow } from '#core/workflow.ts';
import type { PastRun } from '#service/history.ts';

/** The metrics of a daemon for Prometheus. */
export type Metrics = {
  /** Counts a finished run. Call it once for each run. */
  readonly countRun: (run: PastRun) => void;
  readonly countRequest: (request: CountedRequest) => void;
  /** Returns the metrics in the text format of Prometheus. */
  readonly read: () => Promise<{ readonly contentType: string; readonly text: string }>;
};

/** An answered request. `route`: the pattern of its path, `none` if no route was reached. */
export type CountedRequest = {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
};

/** The functions that return present values when the metrics are requested. */
export type MetricSources = {
  readonly version: string;
  readonly runsActive: () => number;
  readonly queueDepth: () => number;
  readonly schedulerLagSeconds: () => number;
  readonly schedulesMissed: () => number;
};

/** Workflows with a label of their own; all others are counted as `other`. */
const mostWorkflows = 1000;
const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const stepSeconds = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400];
const runSeconds = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 43_200, 86_400];

/** Creates metrics that begin at zero. */
export async function createMetrics(sources: MetricSources): Promise<Metrics> {
  const prometheus = await import('prom-client');
  const registry = new prometheus.Registry();
  addPresent(prometheus, registry, sources);
  const requests = new prometheus.Histogram({
    name: 'wf_http_request_duration_seconds',
    help: 'Duration of requests, by the pattern of their path.',
    labelNames: ['method', 'route', 'status'],
    buckets: requestSeconds,
    registers: [registry],
  });
  return {
    countRun: runCounter(prometheus, registry),
    countRequest: ({ seconds, status, ...labels }) => requests.observe({ ...labels, status: String(status) }, seconds),
    read: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
}

type Prometheus = typeof import('prom-client');

function runCounter(prometheus: Prometheus, registry: Registry): (run: PastRun) => void {
  const registers = [registry];
  const runs = new prometheus.Counter({
    name: 'wf_runs_total',
    help: 'Finished runs, by workflow and status.',
    labelNames: ['workflow', 'status'],
    registers,
  });
  const durations = new prometheus.Histogram({
    name: 'wf_run_duration_seconds',
    help: 'Duration of runs from start to finish.',
    buckets: runSeconds,
    registers,
  });
  const countStep = stepCounter(prometheus, registry);
  const workflowLabel = boundedLabel(mostWorkflows);
  return (run) => {
    const { workflow, status, startedAt, finishedAt } = run.state;
    runs.inc({ workflow: workflowLabel(workflow), status });
    if (startedAt !== null && finishedAt !== null) durations.observe(Math.max(0, finishedAt - startedAt) / 1000);
    countSteps(run, countStep);
  };
}

type CountStep = (executor: string, status: string, durationMs: number | null) => void;

function stepCounter(prometheus: Prometheus, registry: Registry): CountStep {
  const registers = [registry];
  const steps: Counter = new prometheus.Counter({
    name: 'wf_steps_total',
    help: 'Steps and handlers of finished runs, by executor and status.',
    labelNames: ['executor', 'status'],
    registers,
  });
  const durations: Histogram = new prometheus.Histogram({
    name: 'wf_step_duration_seconds',
    help: 'Duration of steps, all attempts included.',
    buckets: stepSeconds,
    registers,
  });
  return (executor, status, durationMs) => {
    steps.inc({ executor, status });
    if (durationMs !== null) durations.observe(durationMs / 1000);
  };
}

/** Counts the steps of a run, without those restored from the retried run. */
function countSteps({ state, stored }: PastRun, count: CountStep): void {
  const executors = executorsOf(stored?.workflow ?? null);
  for (const step of firstItems(state.nodes, state.nodes.length)) {
    if (!isSettled(step) || step.restored || step.instances !== undefined) continue;
    const { name, status, startedAt, finishedAt } = step;
    const durationMs = startedAt === null || finishedAt === null ? null : Math.max(0, finishedAt - startedAt);
    count(executors.get(stepNode(state, name).instanceOf ?? name) ?? 'unknown', status, durationMs);
  }
}

function executorsOf(workflow: Workflow | null): ReadonlyMap<string, string> {
  if (workflow === null) return new Map();
  return new Map(allSteps(workflow).map(({ name, executor }) => [name, executor.type]));
}

/** Registers gauges for current values. */
function addPresent({ Counter, Gauge }: Prometheus, registry: Registry, sources: MetricSources): void {
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(value());
      },
    });
  gauge('wf_runs_active', 'Running runs, whatever started them.', sources.runsActive);
  gauge('wf_queue_depth', 'Runs waiting to be started.', sources.queueDepth);
  gauge('wf_scheduler_lag_seconds', 'Delay of the last handled due time.', sources.schedulerLagSeconds);
  new Counter({
    name: 'wf_schedule_missed_total',
    help: 'Due times of schedules that were missed.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(sources.schedulesMissed());
    },
  });
  new Gauge({
    name: 'wf_build_info',
    help: 'The version of this program, and of Node.',
    labelNames: ['version', 'node'],
    registers: [registry],
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
