import type { ChalkInstance } from 'chalk';
import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import { endsAttempt } from '#core/run/outcome.ts';
import type { StoredEvent } from '#core/run/run.ts';
import type { Step, Workflow } from '#core/workflow.ts';
import { suggestApprove } from '../text/suggested-commands.ts';
import { colorStep, createColors } from '../text/terminal-style.ts';
import { timeOfDay } from '../text/value-text.ts';
import { nameText, padEnd, textWidth } from '../text/width.ts';
import { headerLine, type RecapOptions, renderRecap } from '../views/recap.ts';
import { createBatch } from './batched.ts';
import { plainEvent } from './plain-event.ts';
import type { Reporter, Terminal } from './reporter.ts';
import { createShownLines, type NodesByName, nodesByName, type OutputLine } from './step-lines.ts';

/** A time that is further back than this comes from a clock that was set, or that of another machine. */
const SET_CLOCK_MS = 60_000;

/** The options of the plain reporter. */
export type PlainOptions = RecapOptions & {
  /** Milliseconds since 1970-01-01 UTC: the time of a line of output that does not have its own. */
  readonly now: () => number;
  /** Calls back after the current work, like `setImmediate`. */
  readonly defer: (callback: () => void) => void;
};

/**
 * Prints a line for every event and every line of output, each with its time and step, so that every line can be searched:
 * `10:31:14 [load]   FAIL   exit 3 after 12.1s (attempt 2 of 2)`.
 */
export function createPlainReporter(terminal: Terminal, options: PlainOptions): Reporter {
  const batch = createBatch(terminal.write, options.defer);
  const colors = createColors(terminal.color);
  const lines = createShownLines(terminal.stripsColors !== true);
  const timeColumn = createTimeColumn(colors);
  const startedAt = new Map<string, number>();
  let isStrict = false;
  const bar = colors.dim('|');
  let workflow: Workflow | null = null;
  let run = '';
  let steps: NodesByName = new Map<string, Step>();
  let prefix = (name: string) => `[${name}]`;

  let last = 0;
  /** Output is read a little later than it was written: a line that is late has the time of the line before. */
  const put = (at: number, step: string | null, text: string) => {
    if (at > last || last - at > SET_CLOCK_MS) last = at;
    batch.add(`${timeColumn(last)} ${step === null ? '' : `${prefix(step)} `}${text}`);
  };
  const putLines = (found: readonly OutputLine[]) => {
    for (const { at, step, text } of found) put(at ?? options.now(), step, text === '' ? bar : `${bar} ${text}`);
  };
  /** The name of a step of a child run includes its parent steps. */
  const show = (event: StoredEvent, step: string | null, { of, runId }: { of: Step | undefined; runId: string }) => {
    if (endsAttempt(event)) putLines(lines.end(step));
    if (event.type === 'step.started') startedAt.set(step ?? '', event.at);
    if (event.type === 'step.expanded') startedAt.set(step ?? '', event.at);
    const approve = (name: string, inputs: string) =>
      suggestApprove(runId, name, `${options.commands.options ?? ''}${inputs}`);
    if (event.type === 'run.created') isStrict = event.strict === true;
    const text = plainEvent(event, { step: of, startedAt: startedAt.get(step ?? ''), isStrict, colors, approve });
    if (text !== null) put(event.at, step, text);
    if (endsAttempt(event)) startedAt.delete(step ?? '');
  };

  return {
    wantsOutput: true,
    begin: (begun, runId) => {
      workflow = begun;
      run = runId;
      steps = nodesByName(begun);
      prefix = createPrefix(begun, colors);
    },
    event: (event) => {
      if (event.type === 'run.created' && workflow) batch.add(headerLine(workflow, event, terminal));
      const step = stepOf(event);
      show(event, step, { of: steps.get(step ?? ''), runId: run });
    },
    output: (chunk) => putLines(lines.push(chunk)),
    child: ({ path, workflow: own, runId }) => {
      const nodes = nodesByName(own);
      const nameOf = (step: string) => [...path, step].join(' > ');
      return {
        event: (event) => {
          const step = stepOf(event);
          if (step !== null) show(event, nameOf(step), { of: nodes.get(step), runId });
        },
        output: (chunk) => putLines(lines.push({ ...chunk, step: nameOf(chunk.step) })),
      };
    },
    end: (recap) => {
      putLines(lines.end(null));
      batch.flush();
      terminal.write(renderRecap(recap, terminal, options));
    },
  };
}

function stepOf(event: StoredEvent): string | null {
  return 'step' in event ? event.step : null;
}

/** Returns the time of day, formatted only when the second changes. */
function createTimeColumn(colors: ChalkInstance): (at: number) => string {
  let second = Number.NaN;
  let text = '';
  return (at) => {
    const now = Math.floor(at / 1000);
    if (now !== second) {
      second = now;
      text = colors.dim(timeOfDay(at));
    }
    return text;
  };
}

/** Longer names are not cut, so that they can be searched; they only move their own lines to the right. */
const WIDEST_PREFIX = 26;

/** Formats `[load]  `, padded to the longest step up to a limit, in the colour of the step. */
export function createPrefix(
  workflow: { readonly steps: readonly { readonly name: string }[] },
  colors: ChalkInstance,
): (name: string) => string {
  const names = workflow.steps.map((step) => `[${nameText(step.name)}]`);
  const widest = names.reduce((cells, name) => Math.max(cells, textWidth(name)), 0);
  const width = Math.min(WIDEST_PREFIX, widest);
  const indexes = new Map(workflow.steps.map((step, index) => [step.name, index]));
  const prefixes = new Map<string, string>();
  const prefixOf = (name: string) => {
    const index = indexes.get(name) ?? indexes.get(splitInstanceName(name)?.step ?? '');
    const text = padEnd(`[${nameText(name)}]`, width);
    return index === undefined ? text : colorStep(colors, index, text);
  };
  return (name) => {
    const prefix = prefixes.get(name) ?? prefixOf(name);
    if (indexes.has(name)) prefixes.set(name, prefix);
    return prefix;
  };
}
