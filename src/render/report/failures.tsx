import type { JSX } from 'preact';
import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import { FailureList } from '#run-view/failure-box.tsx';
import type { RunFailure, RunView } from '#run-view/view.ts';
import { suggestRetry } from '../text/suggested-commands.ts';
import { reportHint } from './command-hints.ts';
import { placeLink, type SourcePlaces, sourceName } from './places.tsx';
import type { ReportStep } from './view.ts';

type FailuresProps = {
  readonly view: RunView;
  readonly steps: readonly ReportStep[];
  readonly places: SourcePlaces;
};

/**
 * The recap of the failures: the reason, the position in the file, the last lines, and the next command; null if
 * nothing failed.
 */
export function Failures({ view, steps, places }: FailuresProps): JSX.Element | null {
  if (view.failures.length === 0) return null;
  const { runId, finishedAt, file } = view.run;
  const canRetry = finishedAt !== null && !(view.masked && file === null);
  const byName = new Map(steps.map((each) => [each.step.name, each]));
  /** The step of this run that a failure is in. */
  const stepOf = ({ path: [name = ''] }: RunFailure) =>
    byName.get(name) ?? byName.get(splitInstanceName(name)?.step ?? '') ?? null;
  const hrefOf = (failure: RunFailure) => {
    const anchor = stepOf(failure)?.anchor;
    return anchor === undefined ? null : `#${anchor}`;
  };
  const placeOf = (failure: RunFailure) => {
    const { path, place } = failure;
    if (path.length === 1) return placeLink(stepOf(failure)?.node ?? null, places);
    return place && <code>{`${sourceName(place.file, places)}:${place.line}:${place.column}`}</code>;
  };
  return (
    <section id="failures">
      <h2>What failed</h2>
      <FailureList view={view} hrefOf={hrefOf} placeOf={placeOf} below={Commands} />
      {canRetry && (
        <p class="note">
          Retry what failed: <code>{suggestRetry(runId, '', view.masked)}</code>
        </p>
      )}
    </section>
  );
}

/** The commands that show the log of a failed step, and the report of the sub-run that it is in. */
function Commands({ command, path, runId, lines }: RunFailure): JSX.Element | null {
  if (command === null) return null;
  return (
    <p class="note">
      {command.startsWith('wf logs') ? (lines.length > 0 ? 'Full log' : 'Log') : 'Status'}: <code>{command}</code>
      {path.length > 1 && (
        <>
          {' '}
          Report: <code>{reportHint(runId)}</code>
        </>
      )}
    </p>
  );
}
