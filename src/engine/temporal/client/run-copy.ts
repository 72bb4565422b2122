import type { WorkflowHandle } from '@temporalio/client';
import { buildGraph } from '#core/graph.ts';
import { evolve } from '#core/run/evolve.ts';
import type { RunEvent, StoredEvent } from '#core/run/run.ts';
import { initialRun, type RunState } from '#core/run/run-state.ts';
import { transition } from '#core/run/transition.ts';
import { baseEnvironment, type Environment } from '#environment/environment.ts';
import { RunSecrets } from '#environment/run-secrets.ts';
import type { RunJournal, RunQueue, RunStore } from '#store/store.ts';
import type { Clock } from '#system/clock.ts';
import { tryOr, type WfError } from '#system/errors.ts';
import type { RunWatcher } from '../../engine.ts';
import { logDirectory } from '../../local/new-run.ts';
import { RunRecord } from '../../local/run-record.ts';
import type { EngineAccess } from '../connection.ts';
import type { Connected } from '../history.ts';
import { type EngineRun, openingEvents } from '../protocol.ts';
import { type DecisionFailure, Mirror, type MirroredEnd, type MirroredSoFar } from './mirror.ts';

/** What a copy is made of. */
export type RunCopyParts = {
  readonly access: EngineAccess<Connected>;
  readonly handle: WorkflowHandle;
  readonly run: EngineRun;
  readonly secrets: RunSecrets;
  readonly journal: RunJournal;
  /** The events in the journal: those that an earlier copy has stored. */
  readonly events: readonly StoredEvent[];
  readonly clock: Clock;
  readonly watcher: RunWatcher;
  /** Called each time the disk refuses a write. */
  readonly onFailure: (error: WfError) => void;
  /** See `MirrorParts`. */
  readonly undecided: (failure: DecisionFailure) => void;
  readonly asksAll?: true;
};

/** A run of the engine in the directory of a run on this machine. Two copies have equal journals. */
export class RunCopy {
  readonly #parts: RunCopyParts;
  readonly #record: RunRecord;
  readonly #mirror: Mirror;
  #recorded: number;
  readonly #children = new Set<string>();
  #isGivenUp = false;

  constructor(parts: RunCopyParts) {
    const { run, journal, secrets, onFailure, events } = parts;
    const { workflow, onApproval } = run.request;
    this.#parts = parts;
    const policies = onApproval === undefined ? workflow : { ...workflow, isUnattended: true as const };
    this.#record = new RunRecord(initialRun(buildGraph(workflow), policies), { journal, secrets, onFailure });
    this.#record.resume(events, events);
    this.#recorded = events.length;
    this.#noteChildren(events);
    this.#mirror = new Mirror({
      ...parts,
      logs: journal.logs,
      record: (fresh, known) => this.#keep(fresh, known),
      recorded: () => this.#recorded,
    });
    this.#keep(openingEvents(run).slice(events.length), []);
  }

  /** The unmasked state. */
  get state(): RunState {
    return this.#record.state;
  }

  /** The ids of its child runs so far. */
  get children(): ReadonlySet<string> {
    return this.#children;
  }

  /** The masked state. */
  get shown(): RunState {
    return this.#record.shown;
  }

  /** Resolves to whether the run has ended, when all of it is copied or the signal is aborted. Rejects as `Mirror.follow`. */
  async follow(signal: AbortSignal): Promise<boolean> {
    return this.#end(await this.#mirror.follow(signal));
  }

  /** Copies what there is now. Rejects as `Mirror.catchUp`. */
  async catchUp(): Promise<MirroredSoFar | 'ended'> {
    const found = await this.#mirror.catchUp();
    if ('isAnswered' in found) return found;
    this.#end(found);
    return 'ended';
  }

  /** Records an end that the engine did not: that the run was lost. */
  lose(message: string): void {
    this.#keep(transition(this.state, { type: 'lost', at: this.#parts.clock.now(), message }).events, []);
  }

  /** Closes the journal of a run that has ended. Resolves to the problem with its files, or null. */
  close(): Promise<string | null> {
    return this.#record.close();
  }

  /** Gives the directory of a run up that has not ended, for the next copy. */
  handBack(): Promise<void> {
    this.#isGivenUp = true;
    return this.#parts.journal.handBack();
  }

  #end(end: MirroredEnd | null): boolean {
    if (end !== null && end.problem !== null) this.lose(end.problem);
    return end !== null;
  }

  #noteChildren(events: readonly RunEvent[]): void {
    for (const event of events) {
      if (event.type === 'step.started' && event.child !== undefined) this.#children.add(event.child);
    }
  }

  #keep(events: readonly RunEvent[], secrets: readonly string[]): void {
    // An answer of the engine may come late.
    if (this.#isGivenUp) return;
    const { secrets: own, watcher } = this.#parts;
    for (const secret of secrets) own.shared.add(secret);
    this.#recorded += events.length;
    this.#noteChildren(events);
    for (const event of events) {
      const { stored } = this.#record.add([event], evolve(this.#record.state, event));
      for (const one of stored) watcher(one, this.#record.shown);
    }
  }
}

/** The secrets of a run that are known outside of the engine, and of a child run those of the run that runs it. */
export function secretsOf({ request, secrets = [] }: EngineRun, processEnv: Environment): RunSecrets {
  const own = new RunSecrets(request, baseEnvironment(request.dotenv, processEnv));
  for (const secret of secrets) own.shared.add(secret);
  return own;
}

/**
 * Creates the directory of a run. `url`: how this machine reaches its engine. `logStore`: the directory in which workers
 * store logs; null: they come with the reports. Throws a `WfError`: `run-exists`, `storage`,
 * `usage` for an invalid id.
 */
export function createRunFiles(
  { request, at }: EngineRun,
  secrets: RunSecrets,
  { store, processEnv, url, logStore }: RunFilesParts,
): RunJournal {
  const logDir = logStore ?? logDirectory(request.workflow, baseEnvironment(request.dotenv, processEnv));
  // Until the run has finished, it may continue although no process owns its directory.
  return store.create(secrets.snapshot(), { logDir, launch: JSON.stringify({ engine: url }), createdAt: at });
}

type RunFilesParts = {
  readonly store: Pick<RunStore, 'create'>;
  readonly processEnv: Environment;
  readonly url: string;
  readonly logStore: string | null;
};

/** How this machine reaches the engine of an unfinished run, as `createRunFiles` has stored it; null: unknown. */
export function storedAddress(runId: string, { readLaunch }: Pick<RunQueue, 'readLaunch'>): string | null {
  const { engine } = tryOr({ engine: null }, () => JSON.parse(readLaunch(runId) ?? '{}')) as { engine?: unknown };
  return typeof engine === 'string' ? engine : null;
}
