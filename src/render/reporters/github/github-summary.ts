import { buildGraph } from '#core/graph.ts';
import type { StepStatus } from '#core/run/run.ts';
import type { RunSummary, StepSummary } from '#core/summary/summary.ts';
import type { Workflow } from '#core/workflow.ts';
import { graphEdges } from '../../graph/graph-edges.ts';
import { mermaidGraph } from '../../graph/render-graph.ts';
import { formatDuration } from '../../text/duration.ts';
import { escapeControls } from '../../text/sanitize.ts';
import { stepStatusText } from '../../text/step-text.ts';
import { statusText } from '../../views/recap.ts';

/** The largest graph in characters; GitHub shows an error for a larger one. */
const largestGraph = 50_000;
const mostEdges = 500;
const longestCell = 300;

/**
 * A run for the summary page of a job, as Markdown: how it ended, a table of its steps, and their graph in the colours of
 * their statuses. At most `mostBytes` of UTF-8, for GitHub refuses a summary of more than a MiB as a whole: the graph is
 * left out first, then steps at the end of the table. Empty when there is no room for anything.
 */
export function githubSummary(summary: RunSummary, workflow: Workflow, mostBytes: number): string {
  const head = `${headline(summary)}${warningLines(summary)}`;
  const room = mostBytes - Buffer.byteLength(head);
  if (room < 0) return '';
  const table = stepTable(summary, room);
  const graph = graphBlock(summary, workflow);
  return head + table + (Buffer.byteLength(table) + Buffer.byteLength(graph) <= room ? graph : '');
}

function headline({ workflow, status, durationMs, error, reason }: RunSummary): string {
  const time = durationMs === null ? '' : ` in ${formatDuration(durationMs)}`;
  const why = error === null || error === '' || reason === 'step' ? '' : `${cell(error)}\n\n`;
  return `### ${cell(workflow)}: ${statusText(status)}${time}\n\n${why}`;
}

function warningLines({ warnings }: RunSummary): string {
  const shown = warnings.slice(0, 10).map((warning) => `- warning: ${cell(warning)}\n`);
  const more = warnings.length - shown.length;
  return warnings.length === 0 ? '' : `${shown.join('')}${more > 0 ? `- and ${more} more warnings\n` : ''}\n`;
}

function stepTable({ steps: own, handlers, strict }: RunSummary, room: number): string {
  const steps = [...own, ...handlers];
  const row = (step: StepSummary) => tableRow(step, strict !== true && step.tolerated !== undefined);
  const headings = '| Step | Status | Attempts | Time | Error |\n| --- | --- | ---: | ---: | --- |\n';
  const rows = steps.map(row);
  const isWhole = fits(rows, room - headings.length);
  // Failed steps must not be left out.
  const order = isWhole ? rows : [...steps].sort((a, b) => rank(a) - rank(b)).map(row);
  const shown = isWhole ? order : order.slice(0, countFitting(order, room - headings.length - 100));
  const more = rows.length - shown.length;
  return `${headings}${shown.join('')}${more > 0 ? `\nand ${more} more steps\n` : ''}`;
}

function tableRow({ name, status, attempts, durationMs, error }: StepSummary, isTolerated: boolean): string {
  const time = durationMs === null ? '' : formatDuration(durationMs);
  const word = `${stepStatusText(status)}${status === 'failed' && isTolerated ? ' (tolerated)' : ''}`;
  return `| ${cell(name)} | ${word} | ${attempts || ''} | ${time} | ${cell(error ?? '')} |\n`;
}

function rank({ status }: StepSummary): number {
  return status === 'failed' ? 0 : 1;
}

function fits(rows: readonly string[], room: number): boolean {
  return countFitting(rows, room) === rows.length;
}

function countFitting(rows: readonly string[], room: number): number {
  let left = room;
  const end = rows.findIndex((text) => {
    left -= Buffer.byteLength(text);
    return left < 0;
  });
  return end === -1 ? rows.length : end;
}

/** Escapes Markdown, HTML, mentions and emoji, and keeps the text in its table cell. */
function cell(text: string): string {
  const line = escapeControls(text);
  const short = line.length > longestCell ? `${line.slice(0, longestCell)}...` : line;
  return short
    .replace(/[\\`*_~[\]()#!$]/g, '\\$&')
    .replace(/[&<>|@:]/g, (character) => `&#${character.codePointAt(0)};`);
}

const fills: { readonly [status in StepStatus]: string | null } = {
  succeeded: 'fill:#dafbe1,stroke:#1a7f37,color:#1f2328',
  failed: 'fill:#ffebe9,stroke:#cf222e,color:#1f2328',
  canceled: 'fill:#fff8c5,stroke:#9a6700,color:#1f2328',
  skipped: 'fill:#fff8c5,stroke:#9a6700,color:#1f2328',
  upstream_failed: 'fill:#f6f8fa,stroke:#818b98,color:#1f2328',
  pending: null,
  scheduled: null,
  running: null,
  waiting: null,
};

function graphBlock({ steps, handlers }: RunSummary, workflow: Workflow): string {
  const graph = buildGraph(workflow);
  if (graphEdges(graph).length > mostEdges) return '';
  const statuses = new Map([...steps, ...handlers].map(({ name, status }) => [name, status]));
  const classOf = (name: string) => {
    const status = statuses.get(name);
    return status === undefined || fills[status] === null ? null : status;
  };
  const used = new Set([...statuses.values()].filter((status) => fills[status] !== null));
  const classes = [...used].map((status) => `  classDef ${status} ${fills[status]}\n`).join('');
  const text = mermaidGraph(graph, classOf) + classes;
  return text.length > largestGraph ? '' : `\n\`\`\`mermaid\n${text}\`\`\`\n`;
}
