import type { Client, Connection } from '@temporalio/client';
import { buildGraph } from '#core/graph.ts';
import { evolve } from '#core/run/evolve.ts';
import type { EngineOwner } from '#core/run/run.ts';
import { initialRun } from '#core/run/run-state.ts';
import { transition } from '#core/run/transition.ts';
import type { Environment } from '#environment/environment.ts';
import type { AnswerRequest, RunArchive, RunControl, RunStore } from '#store/store.ts';
import type { Clock } from '#system/clock.ts';
import { failedAs, messageOf, WfError } from '#system/errors.ts';
import type { AcceptedRun, CatchUp, Engine, RunRef, RunRequest } from '../../engine.ts';
import { connectClient, type EngineAccess, type EngineSettings, packages } from '../connection.ts';
import { type EngineRun, NAMES, type StopOrder } from '../protocol.ts';
import { refuseForeign, servingWorkers } from '../workers.ts';
import { isAway } from './mirror.ts';
import { createRunFiles, RunCopy, secretsOf } from './run-copy.ts';
import { ifGone, readStartedRun, startRun } from './start-run.ts';
import { refuseUnsupported } from './unsupported.ts';

/** What runs of engines need of this machine. */
export type TemporalEngineTools = {
  readonly archive: RunArchive;
  readonly store: Pick<RunStore, 'create'>;
  readonly control: Pick<RunControl, 'readStop' | 'requestStop'>;
  readonly clock: Clock;
  readonly processEnv: Environment;
  readonly lostAfterMs: number;
  /** How to reach the engine with an address. */
  readonly settingsOf: (url: string) => EngineSettings;
  /** Throws a `WfError` `usage` for an invalid id. */
  readonly checkId: (runId: string) => void;
  /** Runs are copied until it is aborted, as by a daemon; null: only as far as they are now. */
  readonly lasting: AbortSignal | null;
  /** Receives errors of copies that continue. */
  readonly report: (error: unknown) => void;
};

/** The runs of engines, by the addresses that their directories name. */
export type TemporalEngine = Pick<Engine, 'cancel' | 'answer'> & {
  /** Accepts a run for the engine at an address, as `Engine.accept`. */
  readonly accept: (request: RunRequest, url: string) => Promise<AcceptedRun>;
  readonly catchUp: CatchUp;
};

/** The pause after a connection that failed. */
const RECONNECT_MS = 5000;

/** Creates the access to runs of engines, whose connections last as long as this process and do not keep it alive. */
export function createTemporalEngine(tools: TemporalEngineTools): TemporalEngine {
  const copies = new RunCopies(tools);
  const { control, clock } = tools;
  return {
    accept: (request, url) => copies.accept(request, url),
    catchUp: (run, until) => copies.catchUp(run, until ?? tools.lasting),
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

  constructor(tools: TemporalEngineTools) {
    this.#tools = tools;
  }

  async accept(request: RunRequest, engine: string): Promise<AcceptedRun> {
    const { archive, checkId, clock, lostAfterMs, lasting } = this.#tools;
    const { runId, workflow } = request;
    checkId(runId);
    refuseUnsupported(workflow);
    if (archive.readCreated(runId) !== null) return { runId, isNew: false };
    const run: EngineRun = { request, engine, at: clock.now(), lostAfterMs };
    const reached = await this.#reach(engine);
    refuseForeign(await asked(engine, servingWorkers(reached.access)), reached.access.keyId);
    const isNew = await asked(engine, startRun(reached.client, run));
    // What fails from here on is caught up by who asks for the run.
    const known = isNew ? run : await asked(engine, readStartedRun(reached.access, runId));
    const copy = known === null ? null : this.#open(known, reached);
    if (copy !== null) await this.#leave(runId, copy, lasting);
    return { runId, isNew };
  }

  async signal({ runId, owner }: RunRef, name: string, order: StopOrder | AnswerRequest): Promise<void> {
    const { engine } = engineOwner(owner);
    const { client } = await this.#reach(engine);
    const sent = client.workflow.getHandle(runId).signal(name, order);
    // A run that has ended meanwhile is found by who waits for its end.
    await asked(engine, sent.catch(ifGone(undefined)));
  }

  catchUp(run: RunRef, until: AbortSignal | null): Promise<string | null> {
    const { runId } = run;
    const copied = this.#copying.get(runId) ?? this.#catchUp(run, until).catch(messageOfRefusal);
    this.#copying.set(runId, copied);
    return copied;
  }

  async #catchUp({ runId, owner }: RunRef, until: AbortSignal | null): Promise<string | null> {
    let isLeft = false;
    try {
      const { engine } = engineOwner(owner);
      const copier = await this.#tools.archive.judgeOwner(runId);
      if (copier === 'alive') return null;
      if (copier === 'unknown') return 'a process on another machine copies it, which may have died';
      const reached = await this.#reach(engine);
      const run = await asked(engine, readStartedRun(reached.access, runId));
      if (run === null) return await this.#lose(runId, `${engine} does not know it, or no longer`);
      const copy = this.#open(run, reached);
      if (copy === null) return null;
      const found = await asked(engine, copy.catchUp()).catch(async (error: unknown) => {
        await copy.handBack();
        throw error;
      });
      if (found === 'ended') return await copy.close();
      isLeft = true;
      await this.#leave(runId, copy, until);
      return found.isAnswered ? null : `no worker of ${engine} answers`;
    } finally {
      if (!isLeft) this.#copying.delete(runId);
    }
  }

  /** Continues a copy in the background until the signal is aborted; null: gives its directory up. */
  async #leave(runId: string, copy: RunCopy, until: AbortSignal | null): Promise<void> {
    const giveUp = async () => {
      this.#copying.delete(runId);
      await copy.handBack();
    };
    if (until === null || until.aborted) return giveUp();
    const follow = async () => {
      if (!(await copy.follow(until))) return giveUp();
      this.#copying.delete(runId);
      await copy.close();
    };
    if (!this.#copying.has(runId)) this.#copying.set(runId, Promise.resolve(null));
    follow().catch(async (error: unknown) => {
      this.#tools.report(error);
      await giveUp();
    });
  }

  /** Null if another process has the directory of the run. Throws a `WfError` `storage`. */
  #open(run: EngineRun, { access, client }: Reached): RunCopy | null {
    const { archive, store, clock, processEnv, report } = this.#tools;
    const { runId } = run.request;
    const secrets = secretsOf(run, processEnv);
    const isThere = archive.readCreated(runId) !== null;
    try {
      const journal = isThere ? archive.openForRecovery(runId) : createRunFiles(run, secrets, { store, processEnv });
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
        undecided: () => {},
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

/** Throws errors of the connection as a `WfError` `unreachable`. */
function asked<T>(engine: string, request: Promise<T>): Promise<T> {
  return request.catch((error: unknown) => {
    throw isAway(error)
      ? new WfError('unreachable', `the engine ${engine} does not answer: ${messageOf(error)}`, { cause: error })
      : error;
  });
}

function messageOfRefusal(error: unknown): string {
  if (error instanceof WfError) return error.message;
  throw error;
}
