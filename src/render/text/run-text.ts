import type { BlockedBy, EarlierSuccess, LockHolder, Param, StepStatus, StoredEvent } from '#core/run/run.ts';
import type { StepAnswer, StepState } from '#core/run/run-state.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import { references } from '#core/words/interpolate.ts';
import { quoteWord } from '#core/words/quote-word.ts';
import { shellCodeIndex } from '#core/words/shell-launch.ts';
import type { Lock, Step, Workflow } from '#core/workflow.ts';
import { escapeControls } from './sanitize.ts';
import { shellQuote } from './suggested-commands.ts';
import { formatDuration, shortId, utcTime } from './value-text.ts';

/**
 * Returns in one line what a step runs, as written, without passwords in addresses; of several lines the first command.
 * `childWorkflow`: the workflow of its sub-run where variables name it.
 */
export function stepTitle(step: Step, childWorkflow?: string): string {
  const { config } = step.executor;
  const executor = {
    ...step.executor,
    config: childWorkflow === undefined ? config : { ...config, run: childWorkflow },
  };
  const command = firstLine(commandText({ ...step, executor }));
  const script = step.script === null ? '' : firstLine(step.script);
  return withType(step.executor.type, command !== '' && script !== '' ? `${command}: ${script}` : command || script);
}

/** Puts the type of an executor before its command, unless that names a program itself. */
export function withType(type: string, command: string): string {
  if (type === 'command' || namesProgram.has(type)) return command;
  return command === '' ? type : `${type}: ${command}`;
}

const namesProgram = new Set(['terraform', 'ansible']);

/**
 * Returns the command of a step as written, without its script, with the settings that belong to it. `isVariable`: the run
 * replaces a variable of that name in a word.
 */
export function commandText(step: Step, isVariable: (name: string) => boolean = () => true): string {
  const { command, args, executor } = step;
  const isShell = readsQuotes.has(executor.type);
  const code = typeof command === 'string' ? -1 : shellCodeIndex(command ?? []);
  const quoted = (word: string, hasVariable: boolean) => (isShell ? quotedTemplate(word, hasVariable) : word);
  const words =
    typeof command === 'string'
      ? [command.trimEnd()]
      : (command ?? []).map((word, index) => quoted(word, index !== code && references(word).some(isVariable)));
  const appended = args.map((word) => quoted(word, references(word).length > 0));
  const { before, after } = settingWords(step);
  return [...before, ...words, ...appended, ...after].filter((text) => text !== '').join(' ');
}

/** The executors that parse a command as a shell does. */
export const readsQuotes: ReadonlySet<string> = new Set(['command', 'docker', 'ssh', 'terraform', 'ansible']);

/** Quotes a word as written, so that a variable of the workflow stays one. */
function quotedTemplate(word: string, hasVariable: boolean): string {
  return hasVariable ? `"${word.replace(/["`]|\\(?!\$)/g, '\\$&')}"` : quoteWord(word);
}

/** Returns the settings of an executor that are part of its command, before and after the words of the step. */
export function settingWords({ executor, command, args }: Step): Record<'before' | 'after', readonly string[]> {
  const { type, config } = executor;
  const isBare = command === null && args.length === 0;
  const textOf = (key: string) => (config[key] === undefined ? '' : String(config[key]));
  switch (type) {
    case 'workflow':
      return { before: Object.values(config).map(String), after: [] };
    case 'terraform':
      return { before: [textOf('binary') || 'terraform', textOf('subcommand') || (isBare ? 'init' : '')], after: [] };
    case 'ansible':
      return { before: [textOf('binary') || 'ansible-playbook'], after: [textOf('playbook')] };
    default:
      return { before: [], after: [] };
  }
}

/** Returns the first line that is neither empty nor a comment, with a mark if more lines follow. */
function firstLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#'));
  const first = escapeControls(withoutPasswords((lines[0] ?? '').trim()));
  return lines.length > 1 ? `${first} ...` : first;
}

/** Masks a literal password: `https://user:***@host`. */
function withoutPasswords(text: string): string {
  return text.replace(/(:\/\/[^/@\s:?#]*):(?!\$)[^/@\s?#]+@/g, '$1:***@');
}

/** Returns `attempt 2 of 3`, or `repetition 7` for a repeating step; empty for a first attempt. */
export function attemptText(step: Step | undefined, attempt: number): string {
  if (attempt <= 1) return '';
  if (step?.repeat) return `repetition ${attempt}`;
  const most = (step?.retry.limit ?? 0) + 1;
  return attempt > most ? `attempt ${attempt}` : `attempt ${attempt} of ${most}`;
}

/** Returns what an up-to-date step has instead of an attempt: `of run 5f2c, 12s saved`, `restored from run 5f2c, 12s saved`. */
export function upToDateText({ from, savedMs = 0, restored }: Partial<EarlierSuccess>): string {
  return [
    `${restored ? 'restored from' : 'of'} run ${escapeControls(shortId(from ?? ''))}`,
    `${formatDuration(savedMs)} saved`,
  ].join(', ');
}

/** Returns the details of a running attempt: whether a service is `ready`, and its container. */
export function attemptState({ isReady, container }: Pick<StepState, 'isReady' | 'container'>): readonly string[] {
  const id = container === null ? [] : [`container ${escapeControls(container.id.slice(0, SHORT_CONTAINER_ID))}`];
  return [...(isReady ? ['ready'] : []), ...id];
}

/** The length of a container id as Docker prints it, in characters. */
const SHORT_CONTAINER_ID = 12;

/** Names locks: `lock deploy-$ENV`, `locks licences (2 slots), warehouse (read)`. `nameOf` changes their names. */
export function locksText(locks: readonly Lock[], nameOf = (name: string) => name): string {
  const texts = locks.map(({ name, mode, slots }) => {
    const how = mode === 'read' ? ' (read)' : slots === 1 ? '' : ` (${slots} slots)`;
    return `${escapeControls(nameOf(name))}${how}`;
  });
  return `${texts.length === 1 ? 'lock' : 'locks'} ${texts.join(', ')}`;
}

/**
 * What a step keeps, and what it finds of other steps: `keeps dist/**, report.html (required)`, `finds the files of build in out`.
 * `most`: patterns that are named; the others are counted. `textOf` changes the patterns.
 */
export function artifactTexts(
  { artifacts, placed = [] }: Pick<Step, 'artifacts' | 'placed'>,
  { most = Number.POSITIVE_INFINITY, textOf = (text: string) => text } = {},
): readonly string[] {
  const rules = (artifacts ?? []).map(({ path, when, required }) => {
    const notes = [...(when === 'always' ? [] : [`on ${when}`]), ...(required ? ['required'] : [])];
    return `${escapeControls(textOf(path))}${notes.length === 0 ? '' : ` (${notes.join(', ')})`}`;
  });
  const more = rules.length > most ? ` and ${rules.length - most} more` : '';
  return [
    ...(artifacts === undefined
      ? []
      : [`keeps ${rules.length === 0 ? '$WF_ARTIFACTS_DIR' : rules.slice(0, most).join(', ')}${more}`]),
    ...placed.map(({ from, to }) => {
      const directory = textOf(to);
      return `finds the files of ${escapeControls(from)}${directory === '.' ? '' : ` in ${escapeControls(directory)}`}`;
    }),
  ];
}

/** Describes what an attempt waits for: `for lock db, held by run 5f2c of "load", step copy`. */
export function blockedText({ why, name, holder }: BlockedText): string {
  const text = `for ${why} ${escapeControls(name)}`;
  if (holder === null) return text;
  const { runId, workflow, step, unknown } = holder;
  const of = `run ${shortId(runId)} of "${escapeControls(workflow)}"${step === null ? '' : `, step ${escapeControls(step)}`}`;
  const doubt = unknown === undefined ? '' : `; ${escapeControls(unknown)} may have ended`;
  return `${text}, held by ${of}${doubt}`;
}

/** Names what of a run is late: `late since TIME`, `step "load" late since TIME`. */
export function lateTexts({ lateSince, steps, handlers }: RunSummary): readonly string[] {
  const late = [...steps, ...handlers].flatMap(({ name, lateSince: since }) =>
    since === undefined ? [] : [`step "${name}" late since ${utcTime(since)}`],
  );
  return [...(lateSince === undefined ? [] : [`late since ${utcTime(lateSince)}`]), ...late];
}

/** Describes the answer to an approval: `approved by anna: looks good`; `by` null: no person answered. */
export function answerText({ answer, by, comment }: Answered): string {
  const text = by === null ? answer : `${answer} by ${escapeControls(by)}`;
  return comment === null || comment === '' ? text : `${text}: ${escapeControls(comment)}`;
}

/** What an attempt waits for. */
type BlockedText = {
  readonly why: BlockedBy;
  readonly name: string;
  readonly holder: Omit<LockHolder, 'since'> | null;
};

/** The answer to an approval. */
export type Answered = Pick<StepAnswer, 'answer' | 'by'> & { readonly comment: string | null };

/** Returns the status of a run in words: `partially succeeded`. */
export function statusText(status: RunSummary['status']): string {
  return status.replace('_', ' ');
}

/** Returns the final status of a step in words: `not run` for a step whose dependency failed. */
export function stepStatusText(status: StepStatus): string {
  if (status === 'upstream_failed') return 'not run';
  return status === 'pending' ? 'not reached' : status;
}

/** Whether the event settles a step that the selection of the run leaves out: a step of an earlier run has its end. */
export function settlesLeftOut({ status, before }: Extract<StoredEvent, { type: 'step.restored' }>): boolean {
  return status === 'skipped' && before === undefined;
}

/** Formats parameters for a command line: `env=prod 'two words'`. */
export function paramsText(params: readonly Param[]): string {
  return params.map(({ name, value }) => `${name === null ? '' : `${name}=`}${paramValueText(value)}`).join(' ');
}

/** Returns the parameters with the values of declared secrets replaced by `***`. */
export function hideSecretParams(params: readonly Param[], workflow: Pick<Workflow, 'secrets'>): readonly Param[] {
  const secrets = new Set(workflow.secrets.map((secret) => secret.name));
  if (secrets.size === 0) return params;
  return params.map((param) => (param.name !== null && secrets.has(param.name) ? { ...param, value: '***' } : param));
}

/** Formats a value for a command line, in quotes if it needs them. */
export function paramValueText(value: string): string {
  return value === '***' ? value : escapeControls(shellQuote(value));
}
