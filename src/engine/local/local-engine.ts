import { type Owner, ownerName, type ProcessIdentity, type ProcessOwner } from '#core/run/run.ts';
import type { RunArchive, RunControl } from '#store/store.ts';
import type { Clock } from '#system/clock.ts';
import { failedAs, ifRefused, WfError } from '#system/errors.ts';
import type { AcceptedRun, Engine, RunRef, RunRequest } from '../engine.ts';

/** The dependencies of judging owners. */
type JudgeTools = {
  readonly archive: Pick<RunArchive, 'judgeOwner'>;
  /** False only if the process is known to have ended. */
  readonly isAlive: (process: ProcessIdentity) => boolean;
  /** Whether the process belongs to another namespace or machine, where its pid has another meaning; absent: never. */
  readonly isElsewhere?: (process: ProcessIdentity) => boolean;
};

/** The dependencies of the local engine. */
type LocalEngineTools = Pick<Engine, 'judge'> & {
  readonly archive: Pick<RunArchive, 'followEvents'>;
  readonly control: Pick<RunControl, 'requestStop' | 'readStop' | 'requestAnswer' | 'knock'>;
  readonly clock: Clock;
  /** Stores a run that waits for its process. */
  readonly store: (request: RunRequest) => Promise<AcceptedRun>;
  /** Starts the process of a stored run, or lets it wait for its turn. */
  readonly begin: (runId: string) => Promise<void>;
  /** Continues a process that was suspended (Ctrl-Z); has no effect on others. */
  readonly wake: (owner: ProcessOwner) => void;
  /** Stops a run by signals to its owner; false if this process cannot reach it. */
  readonly signalStop: (owner: ProcessOwner, force: boolean) => boolean;
};

/** Creates the engine that carries out each run in a process of its own, reached by the files of the run. */
export function createLocalEngine(tools: LocalEngineTools): Engine {
  const { archive, control, clock, store, begin, wake, signalStop, judge } = tools;
  /** A suspended or sleeping owner looks for requests. */
  const reach = async ({ runId, owner }: RunRef) => {
    if (owner !== null) wake(processOf(owner));
    (await control.knock(runId))?.leave();
  };
  return {
    accept: async (request) => {
      const accepted = await store(request);
      if (accepted.isNew) await begin(accepted.runId);
      return accepted;
    },
    follow: archive.followEvents,
    cancel: async (run, { by, kill }) => {
      const { runId, owner } = run;
      const earlier = control.readStop(runId);
      const force = kill === 'now' || (kill === 'if-repeated' && earlier !== null);
      if (earlier === null || (force && !earlier.force)) {
        try {
          control.requestStop(runId, { at: clock.now(), by, force });
        } catch (error) {
          // The run may be what fills the disk.
          if (!failedAs(error, 'storage') || owner === null || !signalStop(processOf(owner), force)) throw error;
        }
      }
      await reach(run);
      return force;
    },
    answer: async (run, answer) => {
      const isFirst = control.requestAnswer(run.runId, answer);
      await reach(run);
      return isFirst;
    },
    judge,
  };
}

/** Creates the judge of owners that are processes. A run that a daemon accepted waits for the next daemon. */
export function localJudge({ archive, isAlive, isElsewhere = () => false }: JudgeTools): Engine['judge'] {
  return ({ runId, owner, promise }) => {
    if (owner === null && promise?.lasting) return 'alive';
    // A run whose owner cannot be read cannot be claimed either.
    const askArchive = (otherwise: 'gone' | 'unknown') => archive.judgeOwner(runId).catch(ifRefused(otherwise));
    const carrier = owner ?? promise?.by ?? null;
    // The run is new, or its process died before the first event.
    if (carrier === null) return askArchive('gone');
    // The process that copies the run may be gone: the run is not.
    if ('engine' in carrier)
      return askArchive('unknown').then((verdict) => (verdict === 'alive' ? verdict : 'unknown'));
    if (!isAlive(carrier)) return 'gone';
    if (!isElsewhere(carrier)) return 'alive';
    return owner === null ? 'unknown' : askArchive('unknown');
  };
}

/** Throws a `WfError` `conflict` for a run of another engine. */
function processOf(owner: Owner): ProcessOwner {
  if (!('engine' in owner)) return owner;
  throw new WfError('conflict', `${ownerName(owner)} runs it: this program reaches only runs of processes`);
}
