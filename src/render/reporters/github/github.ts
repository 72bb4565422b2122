import { endsAttempt } from '#core/run/outcome.ts';
import type { StoredEvent } from '#core/run/run.ts';
import type { Failure } from '#core/summary/summary.ts';
import type { Workflow } from '#core/workflow.ts';
import { suggestApprove } from '../../text/approve-command.ts';
import { createColors } from '../../text/colors.ts';
import { formatElapsed, timeOfDay } from '../../text/duration.ts';
import { failurePath, failureReason, failuresIn } from '../../text/failures.ts';
import { escapeControls, stripControls } from '../../text/sanitize.ts';
import { headerLine } from '../../views/header.ts';
import { type RecapOptions, renderRecap, statusText } from '../../views/recap.ts';
import type { FrameClock } from '../frames.ts';
import { createHeartbeat } from '../heartbeat.ts';
import { createHeldLines, type HeldLines } from '../held-lines.ts';
import { type NodesByName, nodesByName } from '../nodes.ts';
import { createOutputColors } from '../output-colors.ts';
import { plainEvent } from '../plain-event.ts';
import type { OutputChunk, Recap, Reporter, Terminal } from '../reporter.ts';
import { createStepLines, type OutputLine } from '../step-lines.ts';
import { githubCommand, githubPlace } from './github-command.ts';

/** The options of the reporter for GitHub Actions. */
export type GithubOptions = RecapOptions & {
  readonly clock: FrameClock;
  /** The checked-out repository; annotations name files relative to it. */
  readonly workspace: string;
  /** Returns a new random word of letters and digits. */
  readonly token: () => string;
  /** Writes the run to the summary page of the job. */
  readonly summarize: (recap: Recap, workflow: Workflow) => void;
};

type Finished = Extract<StoredEvent, { type: 'step.finished' }>;
/** A failed step, with the text for the end of the run. */
type FailedStep = { readonly title: string; readonly text: string };

const silenceMs = 30_000;
const mostNamed = 5;

/**
 * Creates the reporter for GitHub Actions: one group per step, written when the step has ended, since steps run in parallel; at
 * the end the unfolded output of the failed steps, an annotation at the line of each, and a recap. Output, names and messages
 * can never act as commands.
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
  readonly #lines = createStepLines('overwrite');
  readonly #outputColors;
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
    this.#outputColors = createOutputColors(terminal.stripsColors !== true);
    this.#heartbeat = createHeartbeat(options.clock, silenceMs, () => this.#beat());
  }

  event(event: StoredEvent): void {
    if (event.type === 'run.created') this.#isStrict = event.strict === true;
    if (event.type === 'run.created') this.#put(`${headerLine(this.#workflow, event, this.#terminal)}\n`);
    if (event.type === 'step.started') this.#startedAt.set(event.step, event.at);
    if (endsAttempt(event)) this.#endAttempt(event.step);
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
  #annotate(failure: Failure, { places }: Recap): void {
    const { path, step, key, place: start, tolerated, lines } = failure;
    const fanOut = key === null ? step : step.slice(0, -key.length - 2);
    const place = path.length > 1 || start === null ? start && { file: start.file, start } : places.get(fanOut);
    const tail = lines.map((line) => escapeControls(stripControls(line)));
    const message = [escapeControls(failureReason(failure)), ...tail].join('\n');
    const where = place == null ? [] : githubPlace(place, this.#options.workspace);
    const title = ['title', escapeControls(failurePath(failure))] as const;
    this.#command(tolerated === undefined ? 'error' : 'warning', message, [...where, title]);
  }

  #command(...[name, message, properties]: Parameters<typeof githubCommand>): void {
    this.#terminal.write(`${githubCommand(name, message, properties)}\n`);
  }

  #text(event: StoredEvent, colors: ReturnType<typeof createColors>): string {
    const name = 'step' in event ? (event.step ?? '') : '';
    const approve = (step: string, inputs: string) =>
      suggestApprove(this.#runId, step, `${this.#options.commands.options ?? ''}${inputs}`);
    const [step, startedAt] = [this.#steps.get(name), this.#startedAt.get(name)];
    return plainEvent(event, { step, startedAt, isStrict: this.#isStrict, colors, approve }) ?? '';
  }

  #endAttempt(step: string): void {
    this.#holdLines(this.#lines.end(step));
    this.#outputColors.end(step);
  }

  #holdLines(lines: readonly OutputLine[]): void {
    for (const line of lines) this.#hold(line.step, this.#outputColors.isolate(line));
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
    const more = running.length > mostNamed ? ` and ${running.length - mostNamed} more` : '';
    this.#put(`${timeOfDay(now)} running: ${running.slice(0, mostNamed).join(', ')}${more}\n`);
  }

  #say(at: number, step: string | null, text: string): void {
    this.#put(`${timeOfDay(at)} ${step === null ? '' : `[${escapeControls(step)}] `}${text}\n`);
  }

  /** Lines of wf contain names of the user, so they are fenced if a name could act as a command. */
  #put(text: string): void {
    this.#terminal.write(couldCommand(text) ? fenced(text, this.#options.token()) : text);
    this.#heartbeat.wrote();
  }
}

/**
 * Whether GitHub's runner could read a line of the text as a command: `::` at the start of a line after spaces, or the older
 * `##[` anywhere.
 */
function couldCommand(text: string): boolean {
  return /##\[|^\s*::/m.test(text);
}

/**
 * Fences text of others, so that nothing in it acts as a command of GitHub Actions. `token` ends the fence: it must be random
 * and used once, since a step could read the log while it grows.
 */
function fenced(text: string, token: string): string {
  if (text === '') return '';
  return `::stop-commands::${token}\n${text}${text.endsWith('\n') ? '' : '\n'}::${token}::\n`;
}
