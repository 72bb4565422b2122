import { buildGraph } from '#core/graph.ts';
import { endsAttempt } from '#core/run/outcome.ts';
import type { StepStatus, StoredEvent } from '#core/run/run.ts';
import type { Failure, RunSummary, StepSummary } from '#core/summary/summary.ts';
import type { Workflow } from '#core/workflow.ts';
import { graphEdges } from '../data-views.ts';
import { mermaidGraph } from '../graph/render-graph.ts';
import { failurePath, failureReason, failuresIn } from '../text/failures.ts';
import { statusText, stepStatusText } from '../text/run-text.ts';
import { escapeControls, stripControls } from '../text/sanitize.ts';
import { createColors } from '../text/terminal-style.ts';
import { formatDuration, formatElapsed, timeOfDay } from '../text/value-text.ts';
import { headerLine, type RecapOptions, renderRecap } from '../views/recap.ts';
import { githubCommand, githubPosition } from './github-command.ts';
import { createHeldLines, type HeldLines } from './held-lines.ts';
import { plainEvent } from './plain.ts';
import type { OutputChunk, Recap, Reporter, Terminal } from './reporter.ts';
import { createShownLines, type NodesByName, nodesByName, type OutputLine } from './step-lines.ts';
import type { FrameClock } from './tree/live-region.ts';

type GithubOptions = RecapOptions & {
  readonly clock: FrameClock;
  /** The checked-out repository; annotations name files relative to it. */
  readonly workspace: string;
  /** Returns a new random word of letters and digits. */
  readonly token: () => string;
  readonly summarize: (recap: Recap, workflow: Workflow) => void;
};

type Finished = Extract<StoredEvent, { type: 'step.finished' }>;
/** A failed step, with the text for the end of the run. */
type FailedStep = { readonly title: string; readonly text: string };

const SILENCE_MS = 30_000;
const MOST_NAMED = 5;

/**
 * Creates the reporter for GitHub Actions: a group per step, when it has ended; at the end the output of failed steps, an
 * annotation at the line of each, and a recap. Output, names and messages can never act as commands.
 */
export function createGithubReporter(terminal: Terminal, options: GithubOptions): Reporter {
  let log: GithubLog | null = null;
  return {
    wantsOutput: true,
    begin: (workflow, runId) => {
      log = new GithubLog({ workflow, runId }, terminal, options);
    },
    event: (event) => log?.event(event),
    output: (chunk) => log?.output(chunk),
    end: (recap) => log?.end(recap),
  };
}

class GithubLog {
  #isStrict = false;
  readonly #workflow: Workflow;
  readonly #runId: string;
  readonly #terminal: Terminal;
  readonly #options: GithubOptions;
  readonly #steps: NodesByName;
  readonly #colors;
  readonly #heartbeat;
  readonly #lines;
  readonly #held = new Map<string, HeldLines>();
  readonly #startedAt = new Map<string, number>();
  readonly #failures = new Map<string, FailedStep>();

  constructor({ workflow, runId }: { workflow: Workflow; runId: string }, terminal: Terminal, options: GithubOptions) {
    this.#workflow = workflow;
    this.#runId = runId;
    this.#terminal = terminal;
    this.#options = options;
    this.#steps = nodesByName(workflow);
    this.#colors = createColors(terminal.color);
    this.#lines = createShownLines(terminal.stripsColors !== true);
    this.#heartbeat = createHeartbeat(options.clock, SILENCE_MS, () => this.#beat());
  }

  event(event: StoredEvent): void {
    if (event.type === 'run.created') this.#isStrict = event.strict === true;
    if (event.type === 'run.created') this.#put(`${headerLine(this.#workflow, event, this.#terminal)}\n`);
    if (event.type === 'step.started') this.#startedAt.set(event.step, event.at);
    if (endsAttempt(event)) this.#holdLines(this.#lines.end(event.step));
    const text = this.#text(event, this.#colors);
    if (event.type === 'step.finished') this.#finish(event, text);
    else if (event.type === 'step.started' || event.type === 'step.waiting') this.#hold(event.step, text);
    else if (text !== '') this.#say(event.at, 'step' in event ? event.step : null, text);
    if (endsAttempt(event)) this.#startedAt.delete(event.step);
  }

  output(chunk: OutputChunk): void {
    this.#holdLines(this.#lines.push(chunk));
  }

  end(recap: Recap): void {
    this.#heartbeat.stop();
    const { summary } = recap;
    const { failures, moreFailures } = failuresIn(summary);
    for (const warning of summary.warnings) this.#command('warning', escapeControls(warning));
    const unfolded = new Set(failures.map(({ path }) => path[0]));
    for (const [name, { title, text }] of this.#failures) {
      if (!unfolded.has(name)) {
        if (text !== '') this.#group(stripControls(title), text);
        continue;
      }
      this.#put(`${title}\n`);
      this.#terminal.write(fenced(text, this.#options.token()));
    }
    for (const failure of failures) this.#annotate(failure, recap);
    if (moreFailures > 0)
      this.#command(summary.status === 'failed' ? 'error' : 'warning', `and ${moreFailures} more failed`);
    if (summary.status === 'failed' && this.#failures.size === 0) {
      this.#command('error', escapeControls(summary.error ?? statusText(summary.status)), [
        ['title', escapeControls(summary.workflow)],
      ]);
    }
    // The last lines of the failed steps of this run are right above.
    const shown = failures.map((failure) => (failure.path.length > 1 ? failure : { ...failure, lines: [] }));
    this.#put(
      renderRecap({ ...recap, summary: { ...summary, failures: shown, moreFailures } }, this.#terminal, this.#options),
    );
    this.#options.summarize(recap, this.#workflow);
  }

  #finish(event: Finished, text: string): void {
    const { step: name, at, status, attempt } = event;
    const held = this.#held.get(name)?.text() ?? '';
    this.#held.delete(name);
    if (status === 'failed') {
      const title = `${this.#colors.bold(escapeControls(name))}  ${text}`;
      this.#failures.set(name, { title, text: held });
      this.#say(at, name, attempt === 0 ? text : `${text}; its output comes at the end`);
    } else if (attempt === 0) this.#say(at, name, text);
    else this.#group(`${escapeControls(name)}  ${this.#text(event, createColors(false))}`, held);
  }

  #group(title: string, text: string): void {
    const { token } = this.#options;
    const [begin, end] = [githubCommand('group', title.replace(/ {2,}/g, ' ')), githubCommand('endgroup', '')];
    this.#terminal.write(`${begin}\n${fenced(text, token())}${end}\n`);
    this.#heartbeat.wrote();
  }

  /** A tolerated failure is a warning, unless the run is strict. */
  #annotate(failure: Failure, { positions }: Recap): void {
    const { path, step, key, place: start, tolerated, lines } = failure;
    const fanOut = key === null ? step : step.slice(0, -key.length - 2);
    const position = path.length > 1 || start === null ? start && { file: start.file, start } : positions.get(fanOut);
    const tail = lines.map((line) => escapeControls(stripControls(line)));
    const message = [escapeControls(failureReason(failure)), ...tail].join('\n');
    const where = position == null ? [] : githubPosition(position, this.#options.workspace);
    const title = ['title', escapeControls(failurePath(failure))] as const;
    this.#command(tolerated === undefined ? 'error' : 'warning', message, [...where, title]);
  }

  #command(...[name, message, properties]: Parameters<typeof githubCommand>): void {
    this.#terminal.write(`${githubCommand(name, message, properties)}\n`);
  }

  #text(event: StoredEvent, colors: ReturnType<typeof createColors>): string {
    const name = 'step' in event ? (event.step ?? '') : '';
    const own = { step: this.#steps.get(name), startedAt: this.#startedAt.get(name), isStrict: this.#isStrict };
    const { options } = this.#options.commands;
    return plainEvent(event, { ...own, runId: this.#runId, options, colors }) ?? '';
  }

  #holdLines(lines: readonly OutputLine[]): void {
    for (const { step, text } of lines) this.#hold(step, text);
  }

  #hold(step: string, line: string): void {
    const held = this.#held.get(step) ?? createHeldLines();
    this.#held.set(step, held);
    held.add(line);
  }

  #beat(): void {
    const now = this.#options.clock.now();
    const running = [...this.#startedAt].map(([name, at]) => `${escapeControls(name)} (${formatElapsed(now - at)})`);
    if (running.length === 0) return;
    const more = running.length > MOST_NAMED ? ` and ${running.length - MOST_NAMED} more` : '';
    this.#put(`${timeOfDay(now)} running: ${running.slice(0, MOST_NAMED).join(', ')}${more}\n`);
  }

  #say(at: number, step: string | null, text: string): void {
    this.#put(`${timeOfDay(at)} ${step === null ? '' : `[${escapeControls(step)}] `}${text}\n`);
  }

  /** Lines of wf contain names of the user, so they are fenced if a name could act as a command. */
  #put(text: string): void {
    // `::` at the start of a line after spaces, or the older `##[` anywhere.
    const couldCommand = /##\[|^\s*::/m.test(text);
    this.#terminal.write(couldCommand ? fenced(text, this.#options.token()) : text);
    this.#heartbeat.wrote();
  }
}

/** Fences text, so that nothing in it is a command. A step could read the log, so `token` must be random and used once. */
function fenced(text: string, token: string): string {
  if (text === '') return '';
  return `::stop-commands::${token}\n${text}${text.endsWith('\n') ? '' : '\n'}::${token}::\n`;
}

/** Calls `beat` whenever nothing was written for the interval, as a sign of life for readers of a silent log. */
export function createHeartbeat(clock: FrameClock, silenceMs: number, beat: () => void) {
  let wroteAt = clock.now();
  let cancel = () => {};
  const arm = () => {
    // A clock that was set back must not prolong the silence.
    wroteAt = Math.min(wroteAt, clock.now());
    cancel = clock.setTimer(wroteAt + silenceMs, () => {
      if (clock.now() >= wroteAt + silenceMs) {
        wroteAt = clock.now();
        beat();
      }
      arm();
    });
  };
  arm();
  return {
    /** Call it after each write, which counts as a sign of life. */
    wrote: () => {
      wroteAt = clock.now();
    },
    stop: () => cancel(),
  };
}

/** The largest graph in characters; GitHub shows an error for a larger one. */
const LARGEST_GRAPH = 50_000;
const MOST_EDGES = 500;
const LONGEST_CELL = 300;

/**
 * A run for the summary page of a job, as Markdown of at most `mostBytes`, since GitHub refuses a longer one as a whole: the
 * graph is left out first, then steps at the end of the table.
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
  const isWhole = countFitting(rows, room - headings.length) === rows.length;
  // Failed steps must not be left out.
  const order = isWhole
    ? rows
    : [...steps].sort((a, b) => Number(b.status === 'failed') - Number(a.status === 'failed')).map(row);
  const shown = isWhole ? order : order.slice(0, countFitting(order, room - headings.length - 100));
  const more = rows.length - shown.length;
  return `${headings}${shown.join('')}${more > 0 ? `\nand ${more} more steps\n` : ''}`;
}

function tableRow({ name, status, attempts, durationMs, error }: StepSummary, isTolerated: boolean): string {
  const time = durationMs === null ? '' : formatDuration(durationMs);
  const word = `${stepStatusText(status)}${status === 'failed' && isTolerated ? ' (tolerated)' : ''}`;
  return `| ${cell(name)} | ${word} | ${attempts || ''} | ${time} | ${cell(error ?? '')} |\n`;
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
  const short = line.length > LONGEST_CELL ? `${line.slice(0, LONGEST_CELL)}...` : line;
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
  if (graphEdges(graph).length > MOST_EDGES) return '';
  const statuses = new Map([...steps, ...handlers].map(({ name, status }) => [name, status]));
  const classOf = (name: string) => {
    const status = statuses.get(name);
    return status === undefined || fills[status] === null ? null : status;
  };
  const used = new Set([...statuses.values()].filter((status) => fills[status] !== null));
  const classes = [...used].map((status) => `  classDef ${status} ${fills[status]}\n`).join('');
  const text = mermaidGraph(graph, classOf) + classes;
  return text.length > LARGEST_GRAPH ? '' : `\n\`\`\`mermaid\n${text}\`\`\`\n`;
}
