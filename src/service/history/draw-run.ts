import { type AttemptRecord, attemptHistory } from '../../core/run/attempt-history.ts';
import type { RunSummary } from '../../core/run/summary.ts';
import type { Place, Source } from '../../language/diagnostic.ts';
import { locateSteps } from '../../language/locate.ts';
import { readRegular } from '../../regular-file.ts';
import type { StoredRun } from '../../store/store.ts';
import type { History } from './history.ts';
import type { PastRun } from './past-run.ts';

/** A run with all that a report or the page draws of it. */
export type DrawnRun = {
  readonly run: PastRun;
  readonly summary: RunSummary;
  /** By step. */
  readonly attempts: ReadonlyMap<string, readonly AttemptRecord[]>;
  /** The positions of steps in the sources. */
  readonly places: ReadonlyMap<string, Place>;
  /** As stored: secrets that the file spells out are masked. */
  readonly sources: readonly Source[];
  /** The runs of other workflows that carried out steps, as far as they are in the history, by step. */
  readonly children: ReadonlyMap<string, ChildRun>;
  readonly fileStatus: FileStatus;
};

/** A run that carried out a step. Its own children are read for failed steps only. */
export type ChildRun = {
  readonly summary: RunSummary;
  /** Null when its files are lost. */
  readonly logPaths: StoredRun['logPaths'] | null;
  readonly children: ReadonlyMap<string, ChildRun>;
};

/** How the files of a workflow differ from those that a run was made from; null where that cannot be seen. */
export type FileStatus = 'same' | 'changed' | 'gone' | null;

/** Children read before others get their turn. */
const RUNS_PER_TURN = 20;

/** Gathers what there is to draw of a run. */
export async function drawRun(run: PastRun, history: Pick<History, 'read' | 'summarize'>): Promise<DrawnRun> {
  const { stored } = run;
  const summary = history.summarize(run);
  const sources = stored?.sources ?? [];
  return {
    run,
    summary,
    attempts: attemptHistory(stored?.events ?? []),
    places: stored === null ? new Map() : locateSteps(sources, [...run.state.graph.index.keys()]),
    sources,
    children: await childrenOf(summary, history, () => true),
    fileStatus: stored === null ? null : fileStatus(stored),
  };
}

type IsWanted = (status: string) => boolean;

/** A run that was removed from the history is left out. */
async function childrenOf(
  { steps, handlers }: RunSummary,
  history: Pick<History, 'read' | 'summarize'>,
  isWanted: IsWanted,
): Promise<ReadonlyMap<string, ChildRun>> {
  const children = new Map<string, ChildRun>();
  for (const { name, status, child } of [...steps, ...handlers]) {
    if (child === undefined || !isWanted(status)) continue;
    if (children.size % RUNS_PER_TURN === RUNS_PER_TURN - 1) await new Promise((resolve) => void setImmediate(resolve));
    const run = await history.read(child);
    if (run === null) continue;
    const summary = history.summarize(run);
    const isFailed: IsWanted = (each) => each === 'failed';
    const inner = status === 'failed' ? await childrenOf(summary, history, isFailed) : new Map();
    children.set(name, { summary, logPaths: run.stored?.logPaths ?? null, children: inner });
  }
  return children;
}

/** Where secrets are masked in the stored texts these cannot be compared. */
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
