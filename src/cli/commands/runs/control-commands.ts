import type { ApprovalAnswer, MarkedStatus } from '#core/run/run.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import { escapeControls, shellQuote, shortId, statusText } from '#render/text.ts';
import { onlyWaitingStep, userName } from '#service/control-runs.ts';
import type { Service } from '#service/service.ts';
import { systemClock } from '#system/clock.ts';
import { WfError } from '#system/errors.ts';
import { type AccessOptions, withService } from '../../access/open-service.ts';
import { requester } from '../../requester.ts';
import { givenParameters } from '../../run/parameters.ts';
import type { Console } from '../../terminal/console.ts';

type StopOptions = AccessOptions & {
  readonly run: string;
  readonly all?: true;
  readonly force?: true;
  readonly wait: boolean;
  readonly ownerGone?: true;
};

/** After this time wf prints what it waits for. */
const HINT_AFTER_MS = 1000;

/** Stops a run, or all runs of a workflow, and prints how each ended: at once, or as JSON at the end. */
export async function stopCommand(options: StopOptions, console: Console): Promise<void> {
  if (options.ownerGone && options.all) throw new WfError('usage', '--owner-gone and --all exclude each other');
  await withService({ ...options, changes: options.run }, console, async (service) => {
    if (options.ownerGone) return recordLost(options, service, console);
    const { active, last } = await service.runs.active(options.run, options.all ? 'workflow' : 'run');
    if (active.length > 1 && !options.all) throw severalRuns(options.run, active, service.commandOptions);
    const runs = active.length === 0 ? [last] : active;
    const stopped = runs.map(async (run) => {
      const line = await stopOne(run, options, service, console);
      if (options.json) return service.runs.find(run.runId);
      console.out.write(`${escapeControls(line)}\n`);
      return run;
    });
    const summaries = await Promise.all(stopped);
    if (options.json) console.out.write(`${JSON.stringify(options.all ? summaries : summaries[0], null, 2)}\n`);
  });
}

async function recordLost({ run, json }: StopOptions, { runs }: Service, { out }: Console): Promise<void> {
  const summary = await runs.declareLost(run);
  out.write(json ? `${JSON.stringify(summary, null, 2)}\n` : `${runTitle(summary)} is recorded: ${endText(summary)}\n`);
}

async function stopOne(run: RunSummary, options: StopOptions, service: Service, { err }: Console): Promise<string> {
  const { runId } = run;
  const { runs, commandOptions } = service;
  const title = runTitle(run);
  const { result, forced } = await runs.stop(runId, {
    by: requester('stop'),
    kill: options.force ? 'now' : 'if-repeated',
  });
  if (result === 'canceled') return `${title} is canceled: it had not started`;
  if (result === 'over') return `${title} had finished already: ${endText(await runs.find(runId))}`;
  if (!options.wait) return `${title} was asked to stop`;
  const again = `; wf stop${commandOptions} ${shortId(runId)} again kills it at once`;
  const hint = forced || !runs.repeatedStopKills ? '' : again;
  const ended = await withHint(`waiting for ${title} to end${hint}\n`, err.write, () => runs.ended(runId));
  return ended.status === 'canceled' ? `${title} is stopped` : `${title} has ended: ${endText(ended)}`;
}

/** The error for a workflow with several active runs. `options`: those by which a command reaches them. */
export function severalRuns(word: string, runs: readonly { readonly runId: string }[], options = ''): WfError {
  const ids = runs.map(({ runId }) => shortId(runId)).join(', ');
  return new WfError('usage', `${runs.length} runs of "${word}" are active: ${ids}`, {
    help: `name one of them, or stop them all with wf stop${options} --all ${shellQuote(word)}`,
  });
}

/** The name of a run in a message. */
export function runTitle({ runId, workflow }: Pick<RunSummary, 'runId' | 'workflow'>): string {
  return escapeControls(`run ${shortId(runId)} of "${workflow}"`);
}

function endText({ status, error }: RunSummary): string {
  return error === null ? statusText(status) : `${statusText(status)}, ${error}`;
}

async function withHint<T>(hint: string, write: (text: string) => void, wait: () => Promise<T>): Promise<T> {
  const cancel = systemClock.setTimer(systemClock.now() + HINT_AFTER_MS, () => write(hint));
  try {
    return await wait();
  } finally {
    cancel();
  }
}

type MarkOptions = AccessOptions & {
  readonly run: string;
  readonly step: string;
  readonly status: MarkedStatus;
};

/** Sets the status of a step of a finished run and prints the new status of the run. */
export function markCommand(options: MarkOptions, console: Console): Promise<void> {
  const { run: word, step, status, json } = options;
  return withService({ ...options, changes: word }, console, async ({ runs }) => {
    const { runId } = await runs.find(word);
    const run = await runs.mark(runId, { step, status, by: requester('mark') });
    if (json) console.out.write(`${JSON.stringify(run, null, 2)}\n`);
    else
      console.out.write(
        `step "${escapeControls(step)}" counts as ${status}; ${runTitle(run)} is ${statusText(run.status)}\n`,
      );
  });
}

type AnswerOptions = AccessOptions & {
  readonly run: string;
  /** Absent: the only step that waits. */
  readonly step?: string;
  readonly decision: ApprovalAnswer;
  readonly param?: readonly string[];
  readonly comment?: string;
};

/** Answers a step that waits for approval. */
export function answerCommand(options: AnswerOptions, console: Console): Promise<void> {
  const { run: word, step: given, decision, comment = '', json } = options;
  const inputs = inputsOf(options);
  return withService({ ...options, changes: word }, console, async ({ runs }) => {
    const found = await runs.find(word);
    const step = given ?? onlyWaitingStep(found);
    const run = await runs.answer(found.runId, { step, decision, by: userName(), comment, inputs });
    const line = `step "${escapeControls(step)}" of ${runTitle(run)} is ${decision}\n`;
    console.out.write(json ? `${JSON.stringify(run, null, 2)}\n` : line);
  });
}

function inputsOf({ param = [] }: AnswerOptions): Readonly<Record<string, string>> {
  const params = givenParameters({ param, called: 'approve', rest: [] });
  return Object.fromEntries(params.flatMap(({ name, value }) => (name === null ? [] : [[name, value]])));
}
