import type { VNode } from 'preact';
import { renderToStaticMarkup } from 'preact-render-to-string';
import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import type { RunFailure, RunView } from '#run-view/api/types.ts';
import { criticalPath, FailureList, RunFacts, RunHeader, RunParams } from '#run-view/components.ts';
import { linesOf, SourceLines } from '#run-view/source.tsx';
import { counted, earlierRunOf, MAX_TEXT, presentRunLook, runTitle, shortened } from '#run-view/texts.ts';
import { ReportGraph, ReportTimeline } from './report/overview.tsx';
import { type LogSize, shareLogBudget } from './report/report-log.ts';
import {
  type LogShare,
  lineAnchor,
  logKey,
  moment,
  positionLink,
  type ReportAssets,
  type ReportStep,
  type ReportView,
  readLogs,
  reportHint,
  reportSteps,
  type SourceNames,
  StepPart,
  shownAttempts,
  sourceNames,
  zonedTime,
} from './report/report-parts.tsx';
import { fileText } from './text/position-text.ts';
import { escapeControl } from './text/sanitize.ts';
import { suggestRetry } from './text/suggested-commands.ts';
import { byteText, shortId } from './text/value-text.ts';

export type { ReportAssets, ReportView } from './report/report-parts.tsx';

/** Above this number of steps only failed steps and the first ones are shown in full. */
const MAX_DETAILED = 1000;
/** Sources up to this many lines are expanded initially. */
const MAX_OPEN_LINES = 250;
const MAX_SOURCE = 2 * 1024 * 1024;

/** Renders a run as one self-contained HTML page, in pieces to be written one after another. */
export async function* renderReport(report: ReportView, assets: ReportAssets): AsyncGenerator<string, void> {
  const steps = reportSteps(report.view);
  const places = sourceNames(report.view);
  const critical = new Set(criticalPath(report.view.steps, report.view.graph?.edges ?? []));
  yield documentHead(report.view.run, assets);
  yield markup(<Header report={report} />);
  yield '<main>\n';
  yield markup(<Failures view={report.view} steps={steps} places={places} />);
  yield markup(<ReportGraph view={report.view} steps={steps} critical={critical} />);
  yield markup(<ReportTimeline report={report} steps={steps} critical={critical} />);
  yield '<section id="steps"><h2>Steps</h2>\n';
  yield markup(<Tools />);
  yield* stepParts(report, steps, places);
  yield '</section>\n';
  yield* artifactParts(report);
  if (report.view.sources.length > 0) yield '<section id="source"><h2>Workflow</h2>\n';
  for (const index of report.view.sources.keys()) yield markup(<SourcePart index={index} places={places} />);
  if (report.view.sources.length > 0) yield '</section>\n';
  yield '</main>\n';
  yield documentFoot(report, assets);
}

function Header({ report: { view, now, earlier } }: { report: ReportView }) {
  const name = <bdi>{view.run.workflow || 'unknown workflow'}</bdi>;
  return (
    <RunHeader run={view.run} steps={view.steps} now={now} name={name}>
      {view.description !== '' && <p>{shortened(view.description, MAX_TEXT)}</p>}
      {view.warnings.map((warning) => (
        <p key={warning} class="warning-line">
          <strong>Warning:</strong> {shortened(warning, MAX_TEXT)}
        </p>
      ))}
      {view.fileStatus === 'changed' && <p class="quiet">The file has changed since the run.</p>}
      {earlier !== null && (
        <p class="quiet">
          Steps are compared with run <code>{shortId(earlier.runId)}</code>.
        </p>
      )}
      <RunFacts view={view} moment={moment} unfinished={`not yet, at ${zonedTime(now)}`} />
      <RunParams params={view.run.params} />
    </RunHeader>
  );
}

/** Shown by the script, which adds more. */
function Tools() {
  return (
    <div class="tools" hidden>
      <label>
        <input type="checkbox" class="wraps" /> Wrap
      </label>
      <label>
        <input type="checkbox" class="shows-times" /> Line times
      </label>
    </div>
  );
}

async function* stepParts(
  report: ReportView,
  steps: readonly ReportStep[],
  places: SourceNames,
): AsyncGenerator<string, void> {
  const detailed = detailedSteps(steps);
  const anchors = new Map(detailed.map(({ step, anchor }) => [step.name, anchor]));
  const share = await logShares(report, detailed);
  const earlier = report.earlier && earlierRunOf(report.earlier);
  for (const each of detailed) {
    const { status } = each.step;
    const isOpen = status === 'failed' || status === 'running' || detailed.length === 1;
    const logs = await readLogs(report, each.step, share);
    yield markup(
      <StepPart
        shown={each}
        report={report}
        earlier={earlier}
        names={places}
        anchors={anchors}
        logs={logs}
        isOpen={isOpen}
      />,
    );
  }
  const left = steps.length - detailed.length;
  if (left > 0) {
    yield markup(
      <p class="note">
        {counted(left, 'step')} more: <code>wf status {shortId(report.view.run.runId)}</code>
      </p>,
    );
  }
}

function detailedSteps(steps: readonly ReportStep[]): readonly ReportStep[] {
  if (steps.length <= MAX_DETAILED) return steps;
  const isUrgent = ({ step, isHandler }: ReportStep) => step.status === 'failed' || isHandler;
  const urgent = new Set(steps.filter(isUrgent).slice(0, MAX_DETAILED));
  const others = steps.filter((step) => !urgent.has(step)).slice(0, MAX_DETAILED - urgent.size);
  const chosen = new Set([...urgent, ...others]);
  return steps.filter((step) => chosen.has(step));
}

/** How many bytes of each log to show; those of the last attempts of failed steps are cut last. */
async function logShares({ logs }: ReportView, steps: readonly ReportStep[]): Promise<LogShare> {
  if (logs === null) return () => 0;
  const sizes: (LogSize & { readonly key: string })[] = [];
  for (const { step } of steps) {
    for (const { attempt } of shownAttempts(step)) {
      const isUrgent = step.status === 'failed' && attempt === step.attempts;
      for (const stream of await logs.streams(step.name, attempt)) {
        const bytes = await logs.file(step.name, attempt, stream).size();
        sizes.push({ key: logKey({ step: step.name, attempt, stream }), bytes, isUrgent });
      }
    }
  }
  const shares = shareLogBudget(sizes);
  const byKey = new Map(sizes.map(({ key }, index) => [key, shares[index] ?? 0]));
  return (log) => byKey.get(logKey(log)) ?? 0;
}

/** The list of the kept files, with a link to each that the page contains; nothing without any. */
async function* artifactParts({ artifacts, view }: ReportView): AsyncGenerator<string, void> {
  if (artifacts.length === 0) return;
  const total = artifacts.reduce((sum, { bytes }) => sum + bytes, 0);
  yield `<section id="artifacts"><h2>Artifacts</h2>\n`;
  yield markup(<p class="note">{`${counted(artifacts.length, 'file')}, ${byteText(total)}`}</p>);
  yield '<ul class="card artifacts">\n';
  for (const { name, bytes, content, removed } of artifacts.slice(0, MAX_DETAILED)) {
    const data = content === undefined ? null : `data:application/octet-stream;base64,${await content()}`;
    const file = <bdi>{name}</bdi>;
    yield markup(
      <li>
        {data === null ? (
          <code>{file}</code>
        ) : (
          <a download={name.split('/').at(-1)} href={data}>
            <code>{file}</code>
          </a>
        )}{' '}
        <span class="quiet">{removed ? `${byteText(bytes)}, removed` : byteText(bytes)}</span>
      </li>,
    );
  }
  yield '</ul>\n';
  const left = artifacts.length - MAX_DETAILED;
  const more = left > 0 ? `${counted(left, 'file')} more. ` : '';
  const areRemoved = artifacts.some(({ removed }) => removed);
  yield areRemoved
    ? ''
    : markup(
        <p class="note">
          {more}Write them into a directory: <code>wf artifacts get {shortId(view.run.runId)} --to out</code>
        </p>,
      );
  yield '</section>\n';
}

function SourcePart({ index, places }: { index: number; places: SourceNames }) {
  const source = places.sources[index];
  if (source === undefined) return null;
  const text = source.text.slice(0, MAX_SOURCE);
  const lines = linesOf(text).length;
  const name = fileText(source.path, places.dir);
  return (
    <details class="source" open={index === 0 && lines <= MAX_OPEN_LINES}>
      <summary>
        <code>{name}</code> <span class="quiet">{counted(lines, 'line')}</span>
      </summary>
      <pre tabIndex={0} role="region" aria-label={name}>
        <SourceLines text={text} idOf={(line) => lineAnchor(index, line)} />
      </pre>
    </details>
  );
}

const iconColors: Readonly<Record<string, string>> = {
  succeeded: '1a7f37',
  failed: 'cf222e',
  running: '0969da',
  approval: '8250df',
};

/**
 * The document up to its content. The policy forbids every request, whatever the page contains: it allows the styles in
 * the page, the script with this hash, and the icon in a data URL.
 */
function documentHead(run: RunView['run'], { css, scriptHash }: ReportAssets): string {
  const { kind } = presentRunLook(run);
  const policy = [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `script-src 'sha256-${scriptHash}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const dot = `<circle cx="8" cy="8" r="7" fill="#${iconColors[kind] ?? '9a6700'}"/>`;
  const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">${dot}</svg>`;
  const head = markup(
    <>
      <meta charset="utf-8" />
      <meta http-equiv="Content-Security-Policy" content={policy} />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="referrer" content="no-referrer" />
      <title>{runTitle(run)}</title>
      <link rel="icon" href={`data:image/svg+xml,${encodeURIComponent(icon)}`} />
    </>,
  );
  return `<!doctype html>
<html lang="en">
<head>
${head}<style>
${css}</style>
</head>
<body class="report">
<a class="skip" href="#steps">Skip to the steps</a>
`;
}

function documentFoot({ view: { run }, now, version }: ReportView, { js }: ReportAssets): string {
  const foot = markup(
    <footer>
      Written by wf {version} on {zonedTime(now)}. <code>wf status {shortId(run.runId)}</code> shows the run as it is
      now.
    </footer>,
  );
  return `${foot}<script>${js}</script>
</body>
</html>
`;
}

/** The recap of the failures: reason, position, last lines and the next command; null if nothing failed. */
function Failures({ view, steps, places }: { view: RunView; steps: readonly ReportStep[]; places: SourceNames }) {
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
    if (path.length === 1) return positionLink(stepOf(failure)?.node ?? null, places);
    return place && <code>{`${fileText(place.file, places.dir)}:${place.line}:${place.column}`}</code>;
  };
  return (
    <section id="failures">
      <h2>What failed</h2>
      <FailureList view={view} hrefOf={hrefOf} positionOf={placeOf} below={Commands} />
      {canRetry && (
        <p class="note">
          Retry what failed: <code>{suggestRetry(runId, '', view.masked)}</code>
        </p>
      )}
    </section>
  );
}

/** The commands that show the log of a failed step, and the report of the sub-run that it is in. */
function Commands({ command, path, runId, lines }: RunFailure) {
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

/** Renders a part of the page. Control characters are made visible, so that none changes the text direction of a line. */
export function markup(part: VNode | null): string {
  if (part === null) return '';
  // Created lazily, so that it is not compiled before the first text that needs it.
  const unsafe =
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what has to go
    /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]|\p{Cs}/gu;
  return `${renderToStaticMarkup(part).replace(unsafe, (character) => {
    // `<U+202E>` contains angle brackets itself.
    return escapeControl(character).replace('<', '&lt;').replace('>', '&gt;');
  })}\n`;
}
