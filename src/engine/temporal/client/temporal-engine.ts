import { setTimeout as pause } from 'node:timers/promises';
import type { Client, Connection } from '@temporalio/client';
import { buildGraph } from '#core/graph.ts';
import { evolve } from '#core/run/evolve.ts';
import type { EngineOwner } from '#core/run/run.ts';
import { initialRun } from '#core/run/run-state.ts';
import { transition } from '#core/run/transition.ts';
import type { Environment } from '#environment/environment.ts';
import type { AnswerRequest, DurableText, RunArchive, RunControl, RunQueue, RunStore } from '#store/store.ts';
import type { Clock } from '#system/clock.ts';
import { failedAs, tryOr, WfError } from '#system/errors.ts';
import { createSlots } from '#system/turns.ts';
import type { AcceptedRun, CatchUp, Engine, RunRef, RunRequest, Waits } from '../../engine.ts';
import { connectClient, type EngineAccess, type EngineSettings, ifGone, packages } from '../connection.ts';
import { attemptId, type EngineRun, NAMES, type StopOrder } from '../protocol.ts';
import { readIdentity, refuseForeign, servingWorkers } from '../workers.ts';
import { type KnownWorkflowTools, withKnownWorkflows } from './known-workflows.ts';
import { isAway } from './mirror.ts';
import { type CopyMark, type ListedRun, listRuns, NamespaceRuns } from './namespace-runs.ts';
import { createRunFiles, RunCopy, secretsOf, storedAddress } from './run-copy.ts';
import { runWaits } from './run-waits.ts';
import { type EngineRunParts, engineRun, readStartedRun, startRun } from './start-run.ts';

/** What runs of engines need of this machine. */
export type TemporalEngineTools = {
  readonly archive: RunArchive;
  readonly store: Pick<RunStore, 'create'>;
  readonly control: Pick<RunControl, 'readStop' | 'requestStop'>;
  readonly queue: Pick<RunQueue, 'readLaunch'>;
  readonly clock: Clock;
  readonly processEnv: Environment;
  readonly lostAfterMs: number;
  /** See `createRunFiles`. */
  readonly logStore: string | null;
  readonly known: KnownWorkflowTools;
  /** See `EngineRunParts`. */
  readonly queueSize: (name: string) => number;
  readonly pools: EngineRunParts['pools'];
  /** How to reach the engine with an address. */
  readonly settingsOf: (url: string) => EngineSettings;
  /** Throws a `WfError` `usage` for an invalid id. */
  readonly checkId: (runId: string) => void;
  /** Runs are copied until it is aborted, as by a daemon; null: only as far as they are now. */
  readonly lasting: AbortSignal | null;
  /** Receives errors of copies that continue. */
  readonly report: (error: unknown) => void;
  /** Called before a run is passed to its engine; throws a `WfError` `storage`. Absent: nothing is to be done. */
  readonly accepting?: (request: RunRequest) => void;
};

/** The runs of engines, by the addresses that their directories name. */
export type TemporalEngine = Pick<Engine, 'cancel' | 'answer'> & {
  /** The worker that makes an attempt now, by its name; null: none. Rejects as `catchUp`. */
  readonly holderOf: (run: RunRef, step: string, attempt: number) => Promise<string | null>;
  /** See `Waits`. An engine that does not answer soon tells nothing. */
  readonly waitsOf: Waits;
  /** Accepts a run for the engine at an address, as `Engine.accept`. */
  readonly accept: (request: RunRequest, url: string) => Promise<AcceptedRun>;
  readonly catchUp: CatchUp;
  /**
   * Connects to the engine at an address. Throws a `WfError`: `usage` or `unreachable` if that is impossible, `conflict` if
   * none of its workers could execute a run of this program.
   */
  readonly connect: (url: string) => Promise<void>;
  /**
   * Copies all runs of a namespace, also of other machines, while `lasting` is not aborted; resolves when those that exist
   * are copied or followed. `progress`: what is copied, for the next process.
   */
  readonly copyAll: (url: string, progress: Pick<DurableText, 'read' | 'write'>) => Promise<void>;
};

/** The pause after a connection that failed. */
const RECONNECT_MS = 5000;
/** The pause between two looks for runs that others have started. */
const LOOK_EVERY_MS = 2000;
/** Runs that are followed at once; others are asked after a pause, some at a time. */
const MAX_FOLLOWED = 500;
const SLOW_POLL_MS = 15_000;
const MAX_ASKED_AT_ONCE = 8;
const CALL_MS = 10_000;
/** What a run waits for is asked again after this time, and not waited for longer by who wants to see the run. */
const WAITS_KNOWN_MS = 5000;
const WAITS_PATIENCE_MS = 3000;

/** Creates the access to runs of engines, whose connections last as long as this process and do not keep it alive. */
export function createTemporalEngine(tools: TemporalEngineTools): TemporalEngine {
  const copies = new RunCopies(tools);
  const { control, clock } = tools;
  return {
    accept: (request, url) => copies.accept(request, url),
    waitsOf: (run) => copies.waitsOf(run),
    holderOf: (run, step, attempt) => copies.holderOf(run, step, attempt),
    catchUp: (run, until) => copies.catchUp(run, tools.lasting ?? until ?? null),
    connect: (url) => copies.connect(url),
    copyAll: (url, progress) => copies.copyAll(url, progress),
    cancel: async (run, { by, kill }) => {
      const earlier = control.readStop(run.runId);
      const force = kill === 'now' || (kill === 'if-repeated' && earlier !== null);
      await copies.signal(run, NAMES.stop, { reason: 'stop', message: `stopped by ${by}`, force });
      control.requestStop(run.runId, { at: clock.now(), by, force });
      return force;
    },
    answer: async (run, answer) => {
      await copies.signal(run, NAMES.answer, answer);
      // The engine takes the first answer: which one it was is in its events.
      return true;
    },
  };
}

type Reached = { readonly access: EngineAccess<Connection>; readonly client: Client };

/** The copies that this process makes, and its connections. */
class RunCopies {
  readonly #tools: TemporalEngineTools;
  readonly #reached = new Map<string, Promise<Reached>>();
  /** The runs that are copied now; each resolves when it has caught up. */
  readonly #copying = new Map<string, Promise<string | null>>();
  /** The runs that are followed; each resolves when its directory is given up or closed. */
  readonly #followed = new Map<string, Promise<void>>();
  /** When runs that are not followed were copied last. */
  readonly #askedAt = new Map<string, number>();
  /** What runs wait for, and when that was asked. */
  readonly #waits = new Map<string, { readonly at: number; readonly found: ReturnType<Waits> }>();
  /** Why engines do not answer, by their addresses. */
  readonly #away = new Map<string, string>();
  readonly #inSlot = createSlots(MAX_ASKED_AT_ONCE);

  constructor(tools: TemporalEngineTools) {
    this.#tools = tools;
    const close = () => void this.#close().catch(tools.report);
    tools.lasting?.addEventListener('abort', close, { once: true });
  }

  /** Ends the connections, with the calls that wait for an answer, so that the process can exit. */
  async #close(): Promise<void> {
    await Promise.all(this.#followed.values());
    const reached = await Promise.allSettled(this.#reached.values());
    await Promise.all(reached.map((one) => one.status === 'fulfilled' && one.value.access.connection.close()));
  }

  async connect(engine: string): Promise<void> {
    const { access } = await this.#reach(engine);
    refuseForeign(await asked(engine, servingWorkers(access)), access.keyId);
  }

  async accept(wanted: RunRequest, engine: string): Promise<AcceptedRun> {
    const { archive, checkId, clock, known: tools, lasting, accepting } = this.#tools;
    const { runId } = wanted;
    checkId(runId);
    if (archive.readCreated(runId) !== null) return { runId, isNew: false };
    const request = await withKnownWorkflows(wanted, tools);
    await this.connect(engine);
    const reached = await this.#reach(engine);
    const { keyId } = reached.access;
    const run = engineRun(request, { ...this.#tools, engine, at: clock.now(), keyId });
    accepting?.(request);
    const isNew = await asked(
      engine,
      soon(reached, () => startRun(reached.client, run)),
    );
    // What fails from here on is caught up by who asks for the run.
    const known = isNew ? run : await asked(engine, readStartedRun(reached.access, runId));
    const copy = known === null ? null : this.#open(known, reached, engine);
    if (copy !== null) await this.#leave(runId, copy, lasting, engine);
    return { runId, isNew };
  }

  async copyAll(engine: string, progress: Pick<DurableText, 'read' | 'write'>): Promise<void> {
    const { lasting, report, clock } = this.#tools;
    if (lasting === null) return;
    const { access } = await this.#reach(engine);
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
    const reached = await this.#reach(engine);
    const run = await asked(engine, readStartedRun(reached.access, runId));
    const copy = run === null ? null : this.#open(run, reached, engine);
    if (copy === null) return;
    if (isOpen) await this.#leave(runId, copy, lasting, engine);
    else if ((await this.#askedCopy(copy, engine)) === 'ended') await copy.close();
    else await copy.handBack();
  }

  async signal(run: RunRef, name: string, order: StopOrder | AnswerRequest): Promise<void> {
    const { runId } = run;
    const engine = this.#addressOf(run);
    const reached = await this.#reach(engine);
    const sent = soon(reached, () => reached.client.workflow.getHandle(runId).signal(name, order));
    // A run that has ended meanwhile is found by who waits for its end.
    await asked(engine, sent.catch(ifGone(undefined)));
  }

  async holderOf(run: RunRef, step: string, attempt: number): Promise<string | null> {
    const engine = this.#addressOf(run);
    const reached = await this.#reach(engine);
    const described = soon(reached, () => reached.client.workflow.getHandle(run.runId).describe());
    const { raw } = (await asked(engine, described.catch(ifGone(null)))) ?? {};
    const ids = [attemptId(step, attempt), attemptId(step, attempt, true)];
    const held = raw?.pendingActivities?.find(({ activityId }) => ids.includes(activityId ?? ''));
    return readIdentity(held?.lastWorkerIdentity ?? '')?.name ?? null;
  }

  async waitsOf(run: RunRef): Promise<readonly string[]> {
    const now = this.#tools.clock.now();
    for (const [runId, { at }] of this.#waits) if (now - at >= WAITS_KNOWN_MS) this.#waits.delete(runId);
    const known = this.#waits.get(run.runId);
    if (known !== undefined) return known.found;
    const asked = async () => runWaits((await this.#reach(this.#addressOf(run))).access, run.runId);
    const found = Promise.race([asked().catch(() => []), pause(WAITS_PATIENCE_MS, [], { ref: false })]);
    this.#waits.set(run.runId, { at: now, found });
    return found;
  }

  async catchUp(run: RunRef, until: AbortSignal | null): Promise<string | null> {
    const { runId } = run;
    const known = this.#copying.get(runId);
    if (known !== undefined) return (await known) ?? this.#away.get(this.#addressOf(run)) ?? null;
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
      const engine = this.#addressOf(ref);
      const copier = await this.#tools.archive.judgeOwner(runId);
      if (copier === 'alive') return null;
      if (copier === 'unknown') return 'a process on another machine copies it, which may have died';
      const reached = await this.#reach(engine);
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
    const reached = await this.#reach(engine);
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

  /** How this machine reaches the engine of a run: other machines may have another address for it. */
  #addressOf({ runId, owner }: RunRef): string {
    return storedAddress(runId, this.#tools.queue) ?? engineOwner(owner).engine;
  }

  /** Connects once to each engine. Throws a `WfError`: `usage`, `unreachable`. */
  #reach(url: string): Promise<Reached> {
    const known = this.#reached.get(url) ?? connect(this.#tools.settingsOf(url));
    if (this.#reached.get(url) === known) return known;
    this.#reached.set(url, known);
    known.catch(() => setTimeout(() => this.#reached.delete(url), RECONNECT_MS).unref());
    return known;
  }
}

async function connect(settings: EngineSettings): Promise<Reached> {
  const access = await connectClient(settings);
  const { Client } = await packages.client();
  const { connection, namespace, dataConverter } = access;
  return { access, client: new Client({ connection, namespace, dataConverter }) };
}

function engineOwner(owner: RunRef['owner']): EngineOwner {
  if (owner !== null && 'engine' in owner) return owner;
  throw new Error('the run is not one of an engine');
}

const AWAY_HELP = 'check that its server runs';

/** The library repeats calls to a server that is away for longer than a person waits. */
function soon<T>({ access }: Reached, call: () => Promise<T>): Promise<T> {
  return access.connection.withDeadline(Date.now() + CALL_MS, call);
}

/** Throws errors of the connection as a `WfError` `unreachable`. */
function asked<T>(engine: string, request: Promise<T>): Promise<T> {
  return request.catch((error: unknown) => {
    throw isAway(error)
      ? new WfError('unreachable', `the engine ${engine} does not answer`, { help: AWAY_HELP, cause: error })
      : error;
  });
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
