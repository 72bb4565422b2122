import { closeSync, writeSync } from 'node:fs';
import { buildGraph, nodeAt, nodeIndex } from '#core/graph.ts';
import { evolve } from '#core/run/evolve.ts';
import type { Owner, Param, RunEvent, RunInput, Trigger } from '#core/run/run.ts';
import { initialRun } from '#core/run/run-state.ts';
import { transition } from '#core/run/transition.ts';
import { createdEvent } from '#engine/driver/created-event.ts';
import type { LoadResult } from '#language/load.ts';
import { identify, isAlive } from '#processes/process-identity.ts';
import { createFileStore } from '#store/files/file-store.ts';
import { failure, success } from '../../support/outcome.ts';

/** How an attempt goes: its duration in milliseconds, its exit code (default 0) and its output. */
export type PlayedAttempt = {
  readonly ms: number;
  readonly exit?: number;
  readonly stdout?: string;
  readonly stderr?: string;
};

/** A run whose ids, times and output are given instead of executed. */
export type PlayedRun = {
  readonly runId: string;
  /** The time of the request, in milliseconds since 1970-01-01 UTC. */
  readonly at: number;
  readonly trigger: Trigger;
  readonly params?: readonly Param[];
  /** The attempts by the name of the step or instance, in their order; the last one also stands for later ones. */
  readonly attempts?: Readonly<Record<string, readonly PlayedAttempt[]>>;
  /** The items of fan-outs by the names of their steps. */
  readonly items?: Readonly<Record<string, readonly string[]>>;
};

const owner: Owner = { pid: 4711, startTime: 1, boot: null, host: 'build-1' };
const usual: PlayedAttempt = { ms: 400 };
const READY_MS = 900;
const ANSWER_MS = 6000;

/** Plays a run by the state machine of the core, and stores its events and logs by the store of the program. */
export async function storePlayedRun(runsDir: string, loaded: LoadResult, run: PlayedRun): Promise<void> {
  const { workflow, sources } = loaded;
  if (workflow === null) throw new Error('the file has errors');
  const { runId, at, trigger, params = [] } = run;
  const request = { runId, workflow, sources, trigger, retryOf: null, params, restored: [], ancestors: [] };
  const first: RunEvent[] = [
    createdEvent(request, at),
    { type: 'run.owned', at: at + 20, owner },
    { type: 'run.prepared', at: at + 30, params },
  ];
  const store = createFileStore({ runsDir, identify, isAlive });
  const journal = store.create({ runId, workflow, sources }, { logDir: null });
  journal.append(first);
  let state = initialRun(buildGraph(workflow), workflow);
  for (const event of first) state = evolve(state, event);
  const due: RunInput[] = [{ type: 'start', at: at + 40, restored: [] }];
  for (let input = due.shift(); input !== undefined; input = due.shift()) {
    const { run: next, events } = transition(state, input);
    state = next;
    journal.append(events);
    for (const event of events) due.push(...reactions(event));
    due.sort((a, b) => a.at - b.at);
  }
  await journal.close();

  function reactions(event: RunEvent): readonly RunInput[] {
    switch (event.type) {
      case 'step.scheduled':
        return attempted(event);
      case 'step.waiting':
        return [{ type: 'timer-fired', at: event.until, step: event.step, attempt: event.attempt }];
      case 'step.held': {
        const answer = {
          step: event.step,
          decision: 'approved',
          by: 'anna',
          comment: 'looks good',
          inputs: {},
        } as const;
        return [{ type: 'answer', at: event.at + ANSWER_MS, ...answer }];
      }
      case 'step.ending':
        return [ended(event, event.at + 100, usual)];
      default:
        return [];
    }
  }

  function attempted({ step, attempt, at: from }: Extract<RunEvent, { type: 'step.scheduled' }>): readonly RunInput[] {
    const begun = { type: 'attempt-started', at: from + 10, step, attempt, process: null } as const;
    const items = run.items?.[step]?.map((key) => ({ key, value: key }));
    if (items !== undefined) return [begun, { type: 'items-read', at: from + 20, step, attempt, items }];
    const { service } = nodeAt(state.graph, nodeIndex(state.graph, step));
    if (service !== undefined) return [begun, { type: 'attempt-serving', at: from + READY_MS, step, attempt }];
    const played = run.attempts?.[step];
    const own = played?.[attempt - 1] ?? played?.at(-1) ?? usual;
    writeOutput(step, attempt, own);
    return [begun, ended({ step, attempt }, from + 10 + own.ms, own)];
  }

  function ended(of: { step: string; attempt: number }, endAt: number, { exit = 0 }: PlayedAttempt): RunInput {
    const outcome = exit === 0 ? success() : failure({ message: `exit ${exit}`, exitCode: exit });
    const { approval } = nodeAt(state.graph, nodeIndex(state.graph, of.step));
    const facts = approval === undefined ? {} : { facts: { prompt: approval.prompt } };
    return { type: 'attempt-ended', at: endAt, step: of.step, attempt: of.attempt, outcome, ...facts };
  }

  function writeOutput(step: string, attempt: number, { stdout = '', stderr = '' }: PlayedAttempt): void {
    const { log } = journal.logs.open(step, attempt, { isSeparate: true, kept: [] });
    writeSync(log.stdoutFd, stdout);
    writeSync(log.stderrFd, stderr);
    closeSync(log.stdoutFd);
    closeSync(log.stderrFd);
  }
}
