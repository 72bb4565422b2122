import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import { summarize } from '#core/summary/summarize.ts';
import { originsOf, type RunSummary, shownFailures } from '#core/summary/summary.ts';
import type { FailedChild, Notice } from '#engine/engine.ts';
import { locateSteps } from '#language/locate.ts';
import { type FailedRun, withFailures } from '#render/text.ts';
import { readTail } from '#store/log-ends.ts';
import { ifRefused } from '#system/errors.ts';
import type { History } from './history.ts';
import type { PastRun } from './past-run.ts';

type Reader = Pick<History, 'read' | 'summarize'>;

/** Returns the JSON view of a past run with its failures, those of its child runs included. */
export async function summarizeWithFailures(run: PastRun, history: Reader): Promise<RunSummary> {
  return withFailures(await failedPastRun(run, history, [run.runId]));
}

/** `ancestors`: the runs on the way to this one, so that damaged files never lead in a cycle. */
async function failedPastRun(run: PastRun, history: Reader, ancestors: readonly string[]): Promise<FailedRun> {
  const summary = history.summarize(run);
  const { stored } = run;
  const tails = new Map<string, readonly string[]>();
  const children = new Map<string, FailedRun | null>();
  const { shown } = shownFailures(summary);
  for (const { name, attempts, child } of shown) {
    if (child !== undefined) {
      // Null also for a run whose files cannot be read.
      const found = ancestors.includes(child) ? null : await history.read(child).catch(ifRefused(null));
      children.set(name, found && (await failedPastRun(found, history, [...ancestors, child])));
    } else if (attempts > 0 && stored !== null) {
      tails.set(name, await readTail(stored.logs, { step: name, attempt: attempts }));
    }
  }
  const positions = shown.length === 0 || stored === null ? new Map() : locateSteps(stored.sources, placedNames(shown));
  return { summary, tails, positions, origins: originsOf(run.state), children };
}

/** The most last lines of a failure, and whether the run is stored. */
type NoticeDetail = { readonly lines: number; readonly kept: boolean };

/** Returns the JSON view of the run of a notice with its failures. */
export async function summarizeNotice(notice: Notice, { lines, kept }: NoticeDetail): Promise<RunSummary> {
  const { state, logs, sources, children } = notice;
  const summary = summarize(state, (step, attempt) => logs.file(step, attempt, 'stdout').path);
  const { shown } = shownFailures(summary);
  const tails = new Map<string, readonly string[]>();
  for (const { name, attempts } of lines === 0 ? [] : shown) {
    if (attempts > 0) tails.set(name, await readTail(logs, { step: name, attempt: attempts }, lines));
  }
  return withFailures(failedRun({ state, sources, children, tails }, { summary, lines }), kept);
}

function failedRun(
  { state, sources, tails, children }: FailedChild,
  { lines, summary = summarize(state, () => null) }: { readonly lines: number; readonly summary?: RunSummary },
): FailedRun {
  return {
    summary,
    positions: locateSteps(sources, placedNames(shownFailures(summary).shown)),
    tails: new Map(Array.from(tails, ([step, tail]) => [step, lines === 0 ? [] : tail.slice(-lines)])),
    origins: originsOf(state),
    children: new Map(Array.from(children, ([step, child]) => [step, failedRun(child, { lines })])),
  };
}

/** Returns the steps of nodes, which have a position in the file: of an instance its fan-out. */
function placedNames(nodes: readonly { readonly name: string }[]): readonly string[] {
  return [...new Set(nodes.map((node) => ('key' in node ? splitInstanceName(node.name)?.step : null) ?? node.name))];
}
