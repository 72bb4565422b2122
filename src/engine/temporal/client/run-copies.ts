import { buildGraph } from '#core/graph.ts';
import { evolve } from '#core/run/evolve.ts';
import type { EngineOwner } from '#core/run/run.ts';
import { initialRun } from '#core/run/run-state.ts';
import { transition } from '#core/run/transition.ts';
import type { Environment } from '#environment/environment.ts';
import type { DurableText, RunArchive, RunQueue, RunStore } from '#store/store.ts';
import type { Clock } from '#system/clock.ts';
import { failedAs, tryOr, WfError } from '#system/errors.ts';
import { createSlots } from '#system/turns.ts';
import type { RunRef } from '../../engine.ts';
import type { EngineRun } from '../protocol.ts';
import { asked, type EngineConnections, type Reached } from './connections.ts';
import { type CopyMark, type ListedRun, listRuns, NamespaceRuns } from './namespace-runs.ts';
import { createRunFiles, RunCopy, secretsOf, storedAddress } from './run-copy.ts';
import { readStartedRun } from './start-run.ts';

/** What copies of runs need of this machine. */
export type CopyTools = {
  readonly archive: RunArchive;
  readonly store: Pick<RunStore, 'create'>;
  readonly queue: Pick<RunQueue, 'readLaunch'>;
  readonly clock: Clock;
  readonly processEnv: Environment;
  /** See `createRunFiles`. */
  readonly logStore: string | null;
  /** Runs are copied until it is aborted, as by a daemon; null: only as far as they are now. */
  readonly lasting: AbortSignal | null;
  /** Receives errors of copies that continue. */
  readonly report: (error: unknown) => void;
};

/** The pause between two looks for runs that others have started. */
const LOOK_EVERY_MS = 2000;
/** Runs that are followed at once; others are asked after a pause, some at a time. */
const MAX_FOLLOWED = 500;
const SLOW_POLL_MS = 15_000;
const MAX_ASKED_AT_ONCE = 8;

/** The copies of runs that this process makes. */
export class RunCopies {
  readonly #tools: CopyTools;
  readonly #connections: EngineConnections;
  /** The runs that are copied now; each resolves when it has caught up. */
  readonly #copying = new Map<string, Promise<string | null>>();
  /** The runs that are followed; each resolves when its directory is given up or closed. */
  readonly #followed = new Map<string, Promise<void>>();
  /** When runs that are not followed were copied last. */
  readonly #askedAt = new Map<string, number>();
  /** Why engines do not answer, by their addresses. */
  readonly #away = new Map<string, string>();
  readonly #inSlot = createSlots(MAX_ASKED_AT_ONCE);

  constructor(tools: CopyTools, connections: EngineConnections) {
    this.#tools = tools;
    this.#connections = connections;
  }

  /** Resolves when no run is followed any longer: `lasting` is aborted. */
  async left(): Promise<void> {
    await Promise.all(this.#followed.values());
  }

  /** Copies a run of this process while `lasting` is not aborted. */
  async begin(run: EngineRun, reached: Reached, engine: string): Promise<void> {
    const copy = this.#open(run, reached, engine);
    if (copy !== null) await this.#leave(run.request.runId, copy, this.#tools.lasting, engine);
  }

  /** See `TemporalEngine`. */
  async copyAll(engine: string, progress: Pick<DurableText, 'read' | 'write'>): Promise<void> {
    const { lasting, report, clock } = this.#tools;
    if (lasting === null) return;
    const { access } = await this.#connections.reach(engine);
    const runs = new NamespaceRuns({
      list: (since) => asked(engine, listRuns(access, since)),
      copy: (run) => this.#copyListed(run, engine, lasting),
      mark: copyMark(`${engine} ${access.namespace}`, progress),
      report,
    });
    const look = async (): Promise<void> => {
      try {
        await runs.look(lasting);
        this.#away.delete(engine);
      } catch (error) {
        if (failedAs(error, 'unreachable')) this.#away.set(engine, error.message);
        if (!lasting.aborted) report(error);
      }
    };
    const lookLater = () => {
      if (lasting.aborted) return;
      const cancel = clock.setTimer(clock.now() + LOOK_EVERY_MS, () => {
        lasting.removeEventListener('abort', cancel);
        void look().then(lookLater);
      });
      lasting.addEventListener('abort', cancel, { once: true });
    };
    await look();
    lookLater();
  }

  /** Copies a run of another process; one that is open is followed. */
  async #copyListed({ runId, isOpen }: ListedRun, engine: string, lasting: AbortSignal): Promise<void> {
    if (this.#copying.has(runId) || this.#tools.archive.readCreated(runId) !== null) return;
    const reached = await this.#connections.reach(engine);
    const run = await asked(engine, readStartedRun(reached.access, runId));
    const copy = run === null ? null : this.#open(run, reached, engine);
    if (copy === null) return;
    if (isOpen) await this.#leave(runId, copy, lasting, engine);
    else if ((await this.#askedCopy(copy, engine)) === 'ended') await copy.close();
    else await copy.handBack();
  }

  /** See `CatchUp`. `until`: follows the run until it is aborted; null: does not follow it. */
  async catchUp(run: RunRef, until: AbortSignal | null): Promise<string | null> {
    const { runId } = run;
    const known = this.#copying.get(runId);
    if (known !== undefined) return (await known) ?? this.#away.get(addressOf(run, this.#tools.queue)) ?? null;
    const now = this.#tools.clock.now();
    // There are more runs than are followed.
    if (now - (this.#askedAt.get(runId) ?? Number.NEGATIVE_INFINITY) < SLOW_POLL_MS) return null;
    this.#askedAt.delete(runId);
    const copied = this.#inSlot(() => this.#catchUp(run, until)).catch(messageOfRefusal);
    this.#copying.set(runId, copied);
    return copied;
  }

  async #catchUp(ref: RunRef, until: AbortSignal | null): Promise<string | null> {
    const { runId } = ref;
    let isLeft = false;
    try {
      const engine = addressOf(ref, this.#tools.queue);
      const copier = await this.#tools.archive.judgeOwner(runId);
      if (copier === 'alive') return null;
      if (copier === 'unknown') return 'a process on another machine copies it, which may have died';
      const reached = await this.#connections.reach(engine);
      const run = await asked(engine, readStartedRun(reached.access, runId));
      if (run === null) return await this.#lose(runId, `${engine} does not know it, or no longer`);
      const copy = this.#open(run, reached, engine);
      if (copy === null) return null;
      const found = await this.#askedCopy(copy, engine);
      await this.#copyChildren(copy, engine, until);
      if (found === 'ended') return await copy.close();
      isLeft = true;
      await this.#leave(runId, copy, until, engine);
      return found.isAnswered ? null : `no worker of ${engine} answers`;
    } finally {
      if (!isLeft) this.#copying.delete(runId);
    }
  }

  /** Copies what there is; gives the directory up after an error. */
  #askedCopy(copy: RunCopy, engine: string): ReturnType<RunCopy['catchUp']> {
    return asked(engine, copy.catchUp()).catch(async (error: unknown) => {
      await copy.handBack();
      throw error;
    });
  }

  /** Continues a copy in the background until the signal is aborted; null: gives its directory up. */
  async #leave(runId: string, copy: RunCopy, until: AbortSignal | null, engine: string): Promise<void> {
    const giveUp = async () => {
      this.#copying.delete(runId);
      this.#followed.delete(runId);
      await copy.handBack();
    };
    if (until === null || until.aborted) return giveUp();
    if (this.#followed.size >= MAX_FOLLOWED) {
      this.#askedAt.set(runId, this.#tools.clock.now());
      return giveUp();
    }
    this.#askedAt.delete(runId);
    const follow = async () => {
      if (!(await copy.follow(until))) return giveUp();
      await this.#copyChildren(copy, engine, until);
      this.#copying.delete(runId);
      this.#followed.delete(runId);
      await copy.close();
    };
    if (!this.#copying.has(runId)) this.#copying.set(runId, Promise.resolve(null));
    const followed = follow().catch(async (error: unknown) => {
      this.#tools.report(error);
      await giveUp().catch(this.#tools.report);
    });
    this.#followed.set(runId, followed);
  }

  /** Copies the child runs of a run, and theirs. */
  async #copyChildren(copy: RunCopy, engine: string, until: AbortSignal | null): Promise<void> {
    for (const runId of copy.children) await this.#copyChild(runId, engine, until);
  }

  async #copyChild(runId: string, engine: string, until: AbortSignal | null): Promise<void> {
    const { archive, queue } = this.#tools;
    const isKnown = archive.readCreated(runId) !== null;
    if (this.#copying.has(runId) || (isKnown && storedAddress(runId, queue) === null)) return;
    if (isKnown && (await archive.judgeOwner(runId)) !== 'gone') return;
    const reached = await this.#connections.reach(engine);
    const run = await asked(engine, readStartedRun(reached.access, runId));
    const child = run === null ? null : this.#open(run, reached, engine);
    if (child === null) return;
    const found = await this.#askedCopy(child, engine);
    await this.#copyChildren(child, engine, until);
    if (found === 'ended') await child.close();
    else await this.#leave(runId, child, until, engine);
  }

  /** Null if another process has the directory of the run. Throws a `WfError` `storage`. */
  #open(run: EngineRun, { access, client }: Reached, url: string): RunCopy | null {
    const { archive, store, queue, clock, processEnv, logStore, report } = this.#tools;
    const { runId } = run.request;
    const secrets = secretsOf(run, processEnv);
    // A process that was killed may have left a directory without events.
    const isThere = archive.readCreated(runId) !== null || storedAddress(runId, queue) !== null;
    try {
      const journal = isThere
        ? archive.openForRecovery(runId)
        : createRunFiles(run, secrets, { store, processEnv, url, logStore });
      const { events } = archive.readEvents(runId);
      const handle = client.workflow.getHandle(runId);
      return new RunCopy({
        access,
        handle,
        run,
        secrets,
        journal,
        events,
        clock,
        watcher: () => {},
        undecided: ({ message }) => report(undecidedRun(runId, message)),
        onFailure: report,
      });
    } catch (error) {
      if (failedAs(error, 'run-active', 'run-exists')) return null;
      throw error;
    }
  }

  /** Records that a run was lost. */
  async #lose(runId: string, message: string): Promise<string | null> {
    const { archive, clock } = this.#tools;
    const journal = archive.openForRecovery(runId);
    const { workflow, events } = archive.read(runId) ?? {};
    if (workflow !== undefined && events !== undefined) {
      const state = events.reduce(evolve, initialRun(buildGraph(workflow), workflow));
      journal.append(transition(state, { type: 'lost', at: clock.now(), message }).events);
    }
    return journal.close();
  }
}

/** How this machine reaches the engine of a run: other machines may have another address for it. */
export function addressOf({ runId, owner }: RunRef, queue: CopyTools['queue']): string {
  return storedAddress(runId, queue) ?? engineOwner(owner).engine;
}

function engineOwner(owner: RunRef['owner']): EngineOwner {
  if (owner !== null && 'engine' in owner) return owner;
  throw new Error('the run is not one of an engine');
}

function undecidedRun(runId: string, message: string): WfError {
  return new WfError('conflict', `run ${runId} waits: a worker cannot continue it: ${message}`);
}

/** The mark of a namespace in a text. `key`: the address and the namespace, without which it does not count. */
function copyMark(key: string, { read, write }: Pick<DurableText, 'read' | 'write'>): CopyMark {
  return {
    read: () => {
      const stored: unknown = tryOr(null, () => JSON.parse(read() ?? '{}'));
      const { engine, startedAt } = (stored ?? {}) as { readonly engine?: unknown; readonly startedAt?: unknown };
      return engine === key && typeof startedAt === 'number' ? startedAt : null;
    },
    write: (startedAt) => write(`${JSON.stringify({ engine: key, startedAt })}\n`),
  };
}

function messageOfRefusal(error: unknown): string {
  if (error instanceof WfError) return error.message;
  throw error;
}
