import { buildGraph } from '#core/graph.ts';
import type { RunEvent } from '#core/run/run.ts';
import { initialRun } from '#core/run/run-state.ts';
import type { RunSummary, StepSummary } from '#core/summary/summary.ts';
import type { Workflow } from '#core/workflow.ts';
import type { Recap, Reporter } from '#render/reporters/reporter.ts';
import { type FailedRun, withFailures } from '#render/text/failures.ts';

/** 10:31:02 on the 15th of January 2026, wherever the test runs. */
export const runStart = new Date(2026, 0, 15, 10, 31, 2).getTime();

/** The id of every run in these stories. */
export const runId = '01997c3e-1a2b-7c4d-8e5f-001122334455';

type Finished = Extract<RunEvent, { type: 'step.finished' }>;

/** `moveTo` is called whenever the time of the story changes. */
export type StoryHooks = { readonly moveTo?: (at: number) => void };

/** Sends a reporter the events of a run, at times in milliseconds from its start. */
export function tell(reporter: Reporter, workflow: Workflow, hooks: StoryHooks = {}) {
  const state = initialRun(buildGraph(workflow), workflow);
  let seq = 0;
  let now = 0;
  const event = (happened: RunEvent) => reporter.event({ ...happened, seq: ++seq }, state);
  const story = {
    at: (ms: number) => {
      now = ms;
      hooks.moveTo?.(runStart + ms);
      return story;
    },
    event: (make: (at: number) => RunEvent) => {
      event(make(runStart + now));
      return story;
    },
    begin: (params: Extract<RunEvent, { type: 'run.created' }>['params'] = []) => {
      reporter.begin(workflow, runId);
      const { name, group, file } = workflow;
      const created = {
        type: 'run.created',
        runId,
        workflow: name,
        group,
        file,
        trigger: 'cli',
        retryOf: null,
      } as const;
      return story.event((at) => ({ ...created, at, params })).event((at) => ({ type: 'run.started', at }));
    },
    start: (step: string, attempt = 1) =>
      story
        .event((at) => ({ type: 'step.scheduled', at, step, attempt }))
        .event((at) => ({ type: 'step.started', at, step, attempt, process: null })),
    output: (step: string, text: string | Uint8Array, stream: 'stdout' | 'stderr' = 'stdout', attempt = 1) => {
      reporter.output({ step, attempt, stream, bytes: typeof text === 'string' ? Buffer.from(text) : text });
      return story;
    },
    finish: (step: string, settings: Partial<Omit<Finished, 'type' | 'step' | 'at'>> = {}) =>
      story.event((at) => ({
        type: 'step.finished',
        at,
        step,
        attempt: 1,
        status: 'succeeded',
        reason: null,
        message: '',
        exitCode: 0,
        signal: null,
        outputs: {},
        ...settings,
      })),
    fail: (step: string, message = 'exit 3', attempt = 1) =>
      story.finish(step, { status: 'failed', reason: 'exit', message, attempt, exitCode: 3 }),
    retry: (step: string, afterMs: number, attempt = 1) =>
      story.event((at) => ({
        type: 'step.waiting',
        at,
        step,
        attempt,
        why: 'retry',
        until: at + afterMs,
        outcome: { status: 'failed', reason: 'exit', message: 'exit 1', exitCode: 1, signal: null, outputs: {} },
      })),
  };
  return story;
}

/** A step's part of a summary: succeeded at its first attempt by default. */
export function stepSummary(name: string, settings: Partial<StepSummary> = {}): StepSummary {
  return {
    name,
    status: 'succeeded',
    reason: null,
    error: null,
    attempts: 1,
    exitCode: 0,
    signal: null,
    startedAt: null,
    finishedAt: null,
    durationMs: null,
    outputs: {},
    log: null,
    ...settings,
  };
}

/** A step that failed with exit code 3, its log kept. */
export function failedSummary(name: string, settings: Partial<StepSummary> = {}): StepSummary {
  const log = `/state/runs/1/${name}.out`;
  return stepSummary(name, { status: 'failed', reason: 'exit', error: 'exit 3', exitCode: 3, log, ...settings });
}

/** The summary of a run of 14 seconds, succeeded by default. */
export function runSummary(settings: Partial<RunSummary> = {}): RunSummary {
  return {
    runId,
    workflow: 'nightly-etl',
    group: '',
    file: '/project/etl.yaml',
    status: 'succeeded',
    reason: null,
    error: null,
    trigger: 'cli',
    retryOf: null,
    scheduledFor: null,
    params: [],
    owner: null,
    createdAt: '2026-01-15T10:31:02.000Z',
    startedAt: '2026-01-15T10:31:02.000Z',
    finishedAt: '2026-01-15T10:31:16.000Z',
    durationMs: 14_000,
    steps: [],
    handlers: [],
    warnings: [],
    ...settings,
  };
}

type RecapSettings = Partial<Omit<Recap, 'summary' | 'children'> & Pick<FailedRun, 'origins' | 'children'>>;

/** The recap at the end of a reporter; by default only the summary. `children`: those of failed steps. */
export function recapOf(summary: Partial<RunSummary> = {}, settings: RecapSettings = {}): Recap {
  const { origins = new Map(), children = new Map(), ...rest } = settings;
  const recap = { positions: new Map(), tails: new Map(), kept: true, ...rest };
  return { ...recap, summary: withFailures({ summary: runSummary(summary), ...recap, origins, children }, recap.kept) };
}

/** A position in `/project/etl.yaml`. */
export function etlPosition(line: number, column: number) {
  return { file: '/project/etl.yaml', start: { line, column }, end: { line, column: column + 4 } };
}

/** Only available commands may be suggested: none by default. */
export const recapOptions = { cwd: '/project', commands: { logs: false, retry: false } };
