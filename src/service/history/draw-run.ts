import type { Graph } from '#core/graph.ts';
import { type AttemptRecord, attemptHistory } from '#core/summary/attempt-history.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import type { Place, Source } from '#language/diagnostic.ts';
import { locateSteps } from '#language/locate.ts';
import type { StoredRun } from '#store/store.ts';
import { readRegular } from '#system/files.ts';
import { nextTurn } from '#system/turns.ts';
import type { History } from './history.ts';
import type { PastRun } from './past-run.ts';
import { summarizeWithFailures } from './run-failures.ts';

/** A run with the data that a report or the page draws. */
export type DrawnRun = {
  readonly run: PastRun;
  readonly summary: RunSummary;
  /** By step. */
  readonly attempts: ReadonlyMap<string, readonly AttemptRecord[]>;
  /** The positions of steps in the sources. */
  readonly places: ReadonlyMap<string, Place>;
  /** As stored: secrets in the text of the file are masked. */
  readonly sources: readonly Source[];
  /** The sub-workflow runs that are in the history, by step. */
  readonly children: ReadonlyMap<string, RunSummary>;
  readonly fileStatus: FileStatus;
};

/** How the present files of a workflow compare with those of the run; null: they cannot be compared. */
export type FileStatus = 'same' | 'changed' | 'gone' | null;

/** Child runs read per turn of the event loop. */
const RUNS_PER_TURN = 20;

/** Reads the data that a report or the page draws of a run. */
export async function drawRun(run: PastRun, history: Pick<History, 'read' | 'summarize'>): Promise<DrawnRun> {
  const { stored } = run;
  const summary = await summarizeWithFailures(run, history);
  const sources = stored?.sources ?? [];
  return {
    run,
    summary,
    attempts: attemptHistory(stored?.events ?? []),
    places: stored === null ? new Map() : placesOf(stored, run.state.graph),
    sources,
    children: await childrenOf(summary, history),
    fileStatus: stored === null ? null : fileStatus(stored),
  };
}

/** Reading a large file takes long, and a run that is read again has the same sources. */
const located = new WeakMap<
  readonly Source[],
  { readonly count: number; readonly places: ReadonlyMap<string, Place> }
>();

/** The positions of the steps; instances of fan-outs may have been added since the last call. */
function placesOf({ sources }: StoredRun, { index }: Graph): ReadonlyMap<string, Place> {
  const known = located.get(sources);
  if (known?.count === index.size) return known.places;
  const places = locateSteps(sources, [...index.keys()]);
  located.set(sources, { count: index.size, places });
  return places;
}

/** Reads the child runs of steps, without those that were removed from the history. */
async function childrenOf(
  { steps, handlers }: RunSummary,
  history: Pick<History, 'read' | 'summarize'>,
): Promise<ReadonlyMap<string, RunSummary>> {
  const children = new Map<string, RunSummary>();
  for (const { name, child } of [...steps, ...handlers]) {
    if (child === undefined) continue;
    if (children.size % RUNS_PER_TURN === RUNS_PER_TURN - 1) await nextTurn();
    const run = await history.read(child);
    if (run === null) continue;
    children.set(name, history.summarize(run));
  }
  return children;
}

/** Compares the files with the stored texts. Null if secrets are masked in these. */
function fileStatus({ sources, masked }: StoredRun): FileStatus {
  const files = sources.filter(({ path }) => path !== '-');
  if (masked || files.length === 0 || files.length < sources.length) return null;
  const texts = files.map(({ path }) => textOf(path));
  if (texts[0] === null) return 'gone';
  return texts.every((text, index) => text === files[index]?.text) ? 'same' : 'changed';
}

function textOf(path: string): string | null {
  try {
    return readRegular(path).toString();
  } catch {
    return null;
  }
}
