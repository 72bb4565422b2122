import { setTimeout as pause } from 'node:timers/promises';
import type { AnswerRequest, DurableText, RunControl } from '#store/store.ts';
import type { AcceptedRun, CatchUp, Engine, RunRef, RunRequest, Waits } from '../../engine.ts';
import { type EngineSettings, ifGone } from '../connection.ts';
import { attemptId, NAMES, type StopOrder } from '../protocol.ts';
import { readIdentity, refuseForeign, servingWorkers } from '../workers.ts';
import { asked, EngineConnections, soon } from './connections.ts';
import { type KnownWorkflowTools, withKnownWorkflows } from './known-workflows.ts';
import { addressOf, type CopyTools, RunCopies } from './run-copies.ts';
import { runWaits } from './run-waits.ts';
import { type EngineRunParts, engineRun, readStartedRun, startRun } from './start-run.ts';

/** What runs of engines need of this machine. */
export type TemporalEngineTools = CopyTools & {
  readonly control: Pick<RunControl, 'readStop' | 'requestStop'>;
  readonly lostAfterMs: number;
  readonly release: string;
  readonly known: KnownWorkflowTools;
  /** See `EngineRunParts`. */
  readonly queueSize: (name: string) => number;
  readonly pools: EngineRunParts['pools'];
  /** How to reach the engine with an address. */
  readonly settingsOf: (url: string) => EngineSettings;
  /** Throws a `WfError` `usage` for an invalid id. */
  readonly checkId: (runId: string) => void;
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

/** What a run waits for is asked again after this time, and not waited for longer by who wants to see the run. */
const WAITS_KNOWN_MS = 5000;
const WAITS_PATIENCE_MS = 3000;

/** Creates the access to runs of engines, whose connections last as long as this process and do not keep it alive. */
export function createTemporalEngine(tools: TemporalEngineTools): TemporalEngine {
  const runs = new EngineRuns(tools);
  const { control, clock } = tools;
  return {
    accept: (request, url) => runs.accept(request, url),
    waitsOf: (run) => runs.waitsOf(run),
    holderOf: (run, step, attempt) => runs.holderOf(run, step, attempt),
    catchUp: (run, until) => runs.copies.catchUp(run, tools.lasting ?? until ?? null),
    connect: (url) => runs.connect(url),
    copyAll: (url, progress) => runs.copies.copyAll(url, progress),
    cancel: async (run, { by, kill }) => {
      const earlier = control.readStop(run.runId);
      const force = kill === 'now' || (kill === 'if-repeated' && earlier !== null);
      await runs.signal(run, NAMES.stop, { reason: 'stop', message: `stopped by ${by}`, force });
      control.requestStop(run.runId, { at: clock.now(), by, force });
      return force;
    },
    answer: async (run, answer) => {
      await runs.signal(run, NAMES.answer, answer);
      // The engine takes the first answer: which one it was is in its events.
      return true;
    },
  };
}

/** The runs that this process starts and asks for. */
class EngineRuns {
  readonly copies: RunCopies;
  readonly #tools: TemporalEngineTools;
  readonly #connections: EngineConnections;
  /** What runs wait for, and when that was asked. */
  readonly #waits = new Map<string, { readonly at: number; readonly found: ReturnType<Waits> }>();

  constructor(tools: TemporalEngineTools) {
    this.#tools = tools;
    this.#connections = new EngineConnections(tools.settingsOf);
    this.copies = new RunCopies(tools, this.#connections);
    const close = async () => {
      await this.copies.left();
      await this.#connections.close();
    };
    tools.lasting?.addEventListener('abort', () => void close().catch(tools.report), { once: true });
  }

  async connect(engine: string): Promise<void> {
    const { access } = await this.#connections.reach(engine);
    refuseForeign(await asked(engine, servingWorkers(access)), access.keyId);
  }

  async accept(wanted: RunRequest, engine: string): Promise<AcceptedRun> {
    const { archive, checkId, clock, known: tools, accepting } = this.#tools;
    const { runId } = wanted;
    checkId(runId);
    if (archive.readCreated(runId) !== null) return { runId, isNew: false };
    const request = await withKnownWorkflows(wanted, tools);
    await this.connect(engine);
    const reached = await this.#connections.reach(engine);
    const { keyId } = reached.access;
    const run = engineRun(request, { ...this.#tools, engine, at: clock.now(), keyId });
    accepting?.(request);
    const isNew = await asked(
      engine,
      soon(reached, () => startRun(reached.client, run)),
    );
    // What fails from here on is caught up by who asks for the run.
    const known = isNew ? run : await asked(engine, readStartedRun(reached.access, runId));
    if (known !== null) await this.copies.begin(known, reached, engine);
    return { runId, isNew };
  }

  async signal(run: RunRef, name: string, order: StopOrder | AnswerRequest): Promise<void> {
    const { runId } = run;
    const engine = addressOf(run, this.#tools.queue);
    const reached = await this.#connections.reach(engine);
    const sent = soon(reached, () => reached.client.workflow.getHandle(runId).signal(name, order));
    // A run that has ended meanwhile is found by who waits for its end.
    await asked(engine, sent.catch(ifGone(undefined)));
  }

  async holderOf(run: RunRef, step: string, attempt: number): Promise<string | null> {
    const engine = addressOf(run, this.#tools.queue);
    const reached = await this.#connections.reach(engine);
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
    const asked = async () =>
      runWaits((await this.#connections.reach(addressOf(run, this.#tools.queue))).access, run.runId);
    const found = Promise.race([asked().catch(() => []), pause(WAITS_PATIENCE_MS, [], { ref: false })]);
    this.#waits.set(run.runId, { at: now, found });
    return found;
  }
}
