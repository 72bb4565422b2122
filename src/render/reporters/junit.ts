import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import type { Failures, RunSummary, StepSummary } from '#core/summary/summary.ts';
import { failurePath, failureReason } from '../text/failures.ts';
import { fileText } from '../text/position-text.ts';
import { stepStatusText } from '../text/run-text.ts';
import { escapeControls, stripControls } from '../text/sanitize.ts';
import type { Recap } from './reporter.ts';

type Verdict = { readonly kind: 'failure' | 'error' | 'skipped'; readonly type: string; readonly message: string };
type TestCase = Pick<StepSummary, 'name' | 'durationMs' | 'child'> & { readonly verdict: Verdict | null };
type View = Recap & { readonly cwd: string };

/**
 * Renders a run as a JUnit file: one test suite, with a case for each step, item and handler. Tolerated failures are `skipped`,
 * unless the run is strict; a run that failed without a failed step has a case of its own.
 */
export function junitReport(recap: Recap, cwd: string): string {
  const { summary } = recap;
  const cases = [...summary.steps.flatMap(withItems), ...summary.handlers].map((step) => {
    return { ...step, verdict: verdictOn(step, !summary.strict && step.tolerated !== undefined) };
  });
  const verdict = runVerdict(summary, cases);
  const { workflow, durationMs } = summary;
  const all: readonly TestCase[] = verdict === null ? cases : [...cases, { name: workflow, durationMs, verdict }];
  const suite = suiteAttributes(all, summary);
  const { name, tests, failures, errors, skipped, time } = suite;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes({ name, tests, failures, errors, skipped, time })}>`,
    `  <testsuite${attributes(suite)}>`,
    '    <properties>',
    `      <property${attributes({ name: 'runId', value: summary.runId })}/>`,
    `      <property${attributes({ name: 'status', value: summary.status })}/>`,
    '    </properties>',
    ...all.flatMap((found) => caseLines(found, { ...recap, cwd })),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

/** A fan-out has a case for each item, and one of its own if it failed without a failed item. */
function withItems(step: StepSummary): readonly StepSummary[] {
  const { items = [], status } = step;
  const isOwn = items.length === 0 || (status === 'failed' && !items.some((item) => item.status === 'failed'));
  return isOwn ? [...items, step] : items;
}

function verdictOn(step: StepSummary, isTolerated: boolean): Verdict | null {
  const { status, attempts } = step;
  const said = step.error ?? '';
  const message = said === '' || said === stepStatusText(status) ? stepStatusText(status) : said;
  switch (status) {
    case 'succeeded':
      return null;
    case 'failed':
      if (isTolerated) return { kind: 'skipped', type: 'tolerated', message: `failed, which is tolerated: ${message}` };
      return { kind: 'failure', type: step.reason ?? 'error', message };
    case 'canceled':
      return { kind: attempts > 0 ? 'error' : 'skipped', type: status, message };
    case 'skipped':
    case 'upstream_failed':
    case 'pending':
    case 'scheduled':
    case 'running':
    case 'waiting':
      return { kind: 'skipped', type: status, message };
  }
}

/** A run can fail without a failed step: if its environment cannot be evaluated, or its time limit passes between two steps. */
function runVerdict({ status, reason, error }: RunSummary, cases: readonly TestCase[]): Verdict | null {
  const isTold = cases.some(({ verdict }) => verdict?.kind === 'failure' || verdict?.kind === 'error');
  if (status !== 'failed' || isTold) return null;
  return { kind: 'error', type: reason ?? 'error', message: error ?? 'failed' };
}

function suiteAttributes(cases: readonly TestCase[], summary: RunSummary) {
  const count = (kind: Verdict['kind']) => String(cases.filter(({ verdict }) => verdict?.kind === kind).length);
  return {
    name: summary.workflow,
    tests: String(cases.length),
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
    time: seconds(summary.durationMs),
    // As the schemas of readers require: no milliseconds, no zone.
    timestamp: (summary.startedAt ?? summary.createdAt).slice(0, 19),
    ...(summary.owner === null ? {} : { hostname: summary.owner.host }),
  };
}

function caseLines(
  { name, durationMs, child, verdict }: TestCase,
  { summary, positions, tails, childFailures, cwd }: View,
): readonly string[] {
  const position = positions.get(name) ?? positions.get(splitInstanceName(name)?.step ?? '');
  const head = attributes({
    name,
    classname: summary.workflow,
    time: seconds(durationMs),
    ...(position === undefined ? {} : { file: fileText(position.file, cwd), line: String(position.start.line) }),
  });
  const inner = verdict === null ? undefined : childFailures?.get(name);
  // The output of a step that runs a workflow is the result as JSON, which the message says shorter.
  const isShort = verdict !== null && child !== undefined;
  const own = isShort ? [] : (tails.get(name) ?? []);
  const tail = (inner === undefined ? own : innerLines(inner)).join('\n');
  const lines = [
    ...(verdict === null ? [] : [verdictLine(verdict, tail)]),
    ...(tail === '' ? [] : [`      <system-out>${xmlText(tail)}</system-out>`]),
  ];
  return lines.length === 0 ? [`    <testcase${head}/>`] : [`    <testcase${head}>`, ...lines, '    </testcase>'];
}

/** The failures in a child run, each with its path and reason, its last lines, and the command that shows its log. */
function innerLines({ failures, moreFailures }: Failures): readonly string[] {
  const lines = failures.flatMap((failure) => [
    `${failurePath(failure)}: ${failureReason(failure)}`,
    ...failure.lines,
    ...(failure.command === null ? [] : [`log: ${failure.command}`]),
  ]);
  return [...lines, ...(moreFailures > 0 ? [`and ${moreFailures} more failed`] : [])];
}

function verdictLine({ kind, type, message }: Verdict, tail: string): string {
  const text = escapeControls(message);
  if (kind === 'skipped') return `      <skipped${attributes({ message: text })}/>`;
  return `      <${kind}${attributes({ message: text, type })}>${xmlText(tail)}</${kind}>`;
}

function attributes(values: Readonly<Record<string, string>>): string {
  // Readers would turn line breaks and tabs into spaces.
  const escaped = (text: string) =>
    escapeXml(text).replace(/["\t\n\r]/g, (character) =>
      character === '"' ? '&quot;' : `&#${character.codePointAt(0)};`,
    );
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escaped(value)}"`)
    .join('');
}

function seconds(ms: number | null): string {
  return ((ms ?? 0) / 1000).toFixed(3);
}

/** Escapes text between two tags of XML 1.0, without colours and without characters that XML does not allow. */
function xmlText(text: string): string {
  return escapeXml(text.split('\n').map(stripControls).join('\n'));
}

const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function escapeXml(text: string): string {
  // Created here, because most runs write no XML.
  const impossible = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
  return text.replace(impossible, '').replace(/[&<>]/g, (character) => names[character] ?? '');
}
