import { staleSummary } from '#core/fingerprint.ts';
import type { SettledStatus } from '#core/run/run.ts';
import {
  instancesOf,
  isActive,
  isAhead,
  isBlocked,
  isFinished,
  isSettled,
  type RunState,
  type StepState,
  steps,
} from '#core/run/run-state.ts';
import { reachedHandlers } from '#core/summary/summarize.ts';
import type { Step, Workflow } from '#core/workflow.ts';
import type { Recap, Terminal } from '../reporters/reporter.ts';
import { nodesByName } from '../reporters/step-lines.ts';
import {
  activeLine,
  finishedLine,
  pendingLine,
  type TreeLine,
  type TreeStyle,
  treeLine,
  waitingLine,
  withCount,
} from '../reporters/tree/tree-lines.ts';
import { columnsOf } from '../text/pack-lines.ts';
import { blockedText } from '../text/run-text.ts';
import { escapeControls } from '../text/sanitize.ts';
import { chooseGlyphs, createColors } from '../text/terminal-style.ts';
import { dateAndTime, shortId } from '../text/value-text.ts';
import { nameText, textWidth } from '../text/width.ts';
import { headerLine, type RecapOptions, renderRecap } from './recap.ts';

/** The state of one run; `workflow` is null if its snapshot is missing. */
export type StatusView = {
  readonly run: RunState;
  readonly workflow: Workflow | null;
  readonly recap: Recap;
  readonly now: number;
};

type Moment = Pick<StatusView, 'run' | 'now'> & { readonly settled: Set<string> };

/** Renders `wf status`: the run, the status of each step, and the recap. Ends with a line break. */
export function renderStatus(
  { run, workflow, recap, now }: StatusView,
  terminal: Terminal,
  options: RecapOptions,
): string {
  const colors = createColors(terminal.color);
  const glyphs = chooseGlyphs(terminal.unicode);
  const nodes = workflow === null ? new Map<string, Step>() : nodesByName(workflow);
  const style = { colors, glyphs, steps: nodes, isStrict: run.strict };
  const { summary } = recap;
  const { runId } = summary;
  const names = shownSteps(run).map(({ name }) => textWidth(nameText(name)));
  const room = { columns: columnsOf(terminal), names: Math.max(0, ...names), ellipsis: glyphs.ellipsis };
  const moment = { run, now, settled: new Set([...steps(run)].filter(isSettled).map(({ name }) => name)) };
  const known = { name: summary.workflow, secrets: workflow?.secrets ?? [] };
  return [
    `${headerLine(known, { runId, params: run.givenParams }, terminal)}\n`,
    `${colors.dim(`  ${originText(recap)}`)}\n`,
    ...shownSteps(run).flatMap((step) =>
      stepLines(step, moment, style).map(
        (line, index) => `${treeLine(line, { ...room, depth: Math.min(index, 1) })}\n`,
      ),
    ),
    renderRecap(recap, terminal, options),
  ].join('');
}

/** Returns the line of a step; of a fan-out also those of the instances that are running or have failed. */
function stepLines(step: StepState, moment: Moment, style: TreeStyle): readonly TreeLine[] {
  const line = stepLine(step, moment, style);
  if (step.instances === undefined) return [line];
  const { count: total, settled: done } = step.instances;
  const shown = instancesOf(moment.run, step).filter(
    (one) => isActive(one) || ['waiting', 'failed'].includes(one.status),
  );
  const lines = shown.map((instance) => stepLine(instance, moment, style));
  return [step.status === 'failed' ? line : withCount(line, { done, total }), ...lines];
}

function shownSteps(run: RunState): readonly StepState[] {
  return [...steps(run), ...reachedHandlers(run)];
}

function originText({ summary }: Recap): string {
  const { createdAt, trigger, retryOf, scheduledFor, autoRetry, owner, finishedAt, queue, tags, blocked, lateSince } =
    summary;
  return [
    dateAndTime(Date.parse(createdAt)),
    ...(trigger === 'cli' ? [] : [`started by ${trigger}`]),
    ...(scheduledFor === null ? [] : [`for ${dateAndTime(Date.parse(scheduledFor))}`]),
    ...(retryOf === null ? [] : [`retry of ${shortId(retryOf)}`]),
    ...(autoRetry?.at == null
      ? []
      : [`retry ${autoRetry.n + 1} of ${autoRetry.limit} ${dateAndTime(Date.parse(autoRetry.at))}`]),
    ...(blocked === undefined ? [] : [`waits ${blockedText(blocked)}`]),
    ...(lateSince === undefined ? [] : [`late since ${dateAndTime(Date.parse(lateSince))}`]),
    ...(queue === undefined ? [] : [`queue ${escapeControls(queue)}`]),
    ...(tags === undefined ? [] : [`tags ${escapeControls(tags.join(', '))}`]),
    ...(owner === null || finishedAt !== null ? [] : [`process ${owner.pid} on ${escapeControls(owner.host)}`]),
  ].join('  ');
}

function stepLine(step: StepState, { run, now, settled }: Moment, style: TreeStyle): TreeLine {
  const { name, attempt, until, waitingFor } = step;
  if (isFinished(run) && !isSettled(step)) return { ...pendingLine(name, { settled }, style), detail: 'not reached' };
  if (isAhead(run, step)) return pendingLine(name, { settled }, style);
  switch (step.status) {
    case 'pending':
      return pendingLine(name, { settled }, style);
    case 'waiting':
      return waitingLine(
        {
          name,
          attempt: isBlocked(step) ? attempt : attempt + 1,
          until,
          why: waitingFor ?? 'retry',
          message: waitMessage(step),
        },
        now,
        style,
      );
    case 'scheduled':
    case 'running':
      return activeLine(step, { now, glyph: style.glyphs.run, note: noteOf(step) }, style);
    case 'succeeded':
    case 'failed':
    case 'skipped':
    case 'canceled':
    case 'upstream_failed':
      return withWorker(
        step,
        finishedLine(
          settledEvent(step, step.status),
          {
            startedAt: step.startedAt,
            answer: step.approval?.answer,
            reason: step.cache?.hit === false ? staleSummary(step.cache) : null,
          },
          style,
        ),
      );
  }
}

function noteOf({ lateAt, child, worker }: StepState): string {
  return [
    ...(lateAt === undefined ? [] : ['late']),
    ...(child === undefined ? [] : [`run ${shortId(child)}`]),
    ...(worker === undefined ? [] : [onWorker(worker)]),
  ].join('  ');
}

function withWorker({ worker }: StepState, line: TreeLine): TreeLine {
  if (worker === undefined) return line;
  return { ...line, detail: line.detail === '' ? onWorker(worker) : `${line.detail}  ${onWorker(worker)}` };
}

function onWorker(worker: string): string {
  return `on ${escapeControls(worker)}`;
}

function waitMessage({ waitingFor, blocked, approval, message }: StepState): string {
  if (waitingFor === 'approval') return approval?.prompt ?? '';
  if (waitingFor !== 'lock' && waitingFor !== 'queue') return message;
  return blocked === undefined ? '' : blockedText({ ...blocked, why: waitingFor });
}

/** Returns the event that settled the step, with the fields that a line shows. */
function settledEvent(step: StepState, status: SettledStatus): Parameters<typeof finishedLine>[0] {
  const { name, outputs, attempt, reason, message, exitCode, signal, origin } = step;
  const tolerated = step.tolerated === null ? {} : { tolerated: step.tolerated };
  const at = step.finishedAt ?? 0;
  if (step.restored) {
    const before = origin === undefined ? {} : { before: { runId: origin, reason, message, exitCode, signal } };
    return { type: 'step.restored', seq: 0, at, step: name, status, outputs, ...tolerated, ...before };
  }
  const { hit, ...earlier } = step.cache ?? { hit: false };
  const cached = hit ? { ...earlier, cached: true as const } : {};
  const end = { status, attempt, reason, message, exitCode, signal, outputs, ...tolerated, ...cached };
  return { type: 'step.finished', seq: 0, at, step: name, ...end };
}
