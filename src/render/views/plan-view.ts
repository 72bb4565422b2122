import type { Param } from '../../core/run/run.ts';
import type { Terminal } from '../reporters/reporter.ts';
import { createColors } from '../text/colors.ts';
import { padEnd } from '../text/fit.ts';
import { paramsText } from '../text/params-text.ts';
import { escapeControls } from '../text/sanitize.ts';
import { textWidth } from '../text/width.ts';

/** The plan of `wf dry`; its JSON has the same shape. */
export type PlanView = {
  readonly workflow: string;
  readonly params: readonly Param[];
  readonly env: Readonly<Record<string, string>>;
  /** `names`: null for a file that does not exist. */
  readonly dotenv: readonly { readonly path: string; readonly names: readonly string[] | null }[];
  /** A file `.env` that is not read. */
  readonly unreadDotenv: string | null;
  /** The names of the steps that can run together, wave by wave. */
  readonly waves: readonly (readonly string[])[];
  readonly steps: readonly {
    readonly name: string;
    readonly depends: readonly string[];
    readonly executor: string;
    readonly command: string;
    readonly dir: string;
    /** The largest number of attempts, including retries. */
    readonly attempts: number;
    /** Retries, repetitions and tolerated failures, each in one line. */
    readonly policies: readonly string[];
    /** The reason why it would be skipped; null if it would run or if the run decides. */
    readonly skipped: string | null;
  }[];
  readonly handlers: PlanView['steps'];
  /** The reason why nothing would run. */
  readonly skipped: string | null;
};

/**
 * Renders a plan as text: parameters and environment, then the steps wave by wave with their commands. The directory is named
 * once, and again for a step in another one. Ends with a line break.
 */
export function renderPlan(plan: PlanView, { color }: Pick<Terminal, 'color'>): string {
  const colors = createColors(color);
  const all = [...plan.steps, ...plan.handlers];
  const steps = new Map(all.map((step) => [step.name, step]));
  const dir = plan.steps[0]?.dir ?? '';
  const width = Math.min(30, Math.max(0, ...all.map(({ name }) => textWidth(escapeControls(name)))));
  const stepLine = (name: string) => {
    const step = steps.get(name);
    const label = `  ${colors.bold(padEnd(escapeControls(name), width))}`;
    return step === undefined
      ? label
      : [label, workText(step), elsewhere(step.dir, dir), ...policyTexts(step), skippedText(step)]
          .filter((part) => part !== '')
          .join('  ');
  };
  const lines = [
    `${colors.bold(escapeControls(plan.workflow))}: ${counted(plan.steps.length, 'step')} in ${counted(plan.waves.length, 'wave')}`,
    ...(plan.skipped === null ? [] : [colors.yellow(`nothing would run: ${escapeControls(plan.skipped)}`)]),
    ...(plan.params.length === 0 ? [] : [`${colors.dim('params:')} ${paramsText(plan.params)}`]),
    ...plan.dotenv.map((file) => `${colors.dim('dotenv:')} ${escapeControls(dotenvText(file))}`),
    ...(plan.unreadDotenv === null
      ? []
      : [`${colors.dim('dotenv:')} ${escapeControls(unreadText(plan.unreadDotenv))}`]),
    ...Object.entries(plan.env).map(([name, value]) => `${colors.dim('env:')} ${escapeControls(`${name}=${value}`)}`),
    ...(dir === '' ? [] : [`${colors.dim('dir:')} ${escapeControls(dir)}`]),
    ...plan.waves.flatMap((names, index) => ['', colors.cyan(`wave ${index + 1}`), ...names.map(stepLine)]),
    ...(plan.handlers.length === 0 ? [] : ['', colors.cyan('handlers')]),
    ...plan.handlers.map(({ name }) => stepLine(name)),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function workText({ executor, command }: PlanView['steps'][number]): string {
  const work = escapeControls(command);
  if (executor === 'command') return work;
  return work === '' ? executor : `${executor}: ${work}`;
}

function dotenvText({ path, names }: PlanView['dotenv'][number]): string {
  return `${path} ${names === null ? '(does not exist)' : names.join(' ')}`.trimEnd();
}

function unreadText(path: string): string {
  return `${path} is not read: "dotenv: .env" in the workflow reads it`;
}

function policyTexts({ policies }: PlanView['steps'][number]): readonly string[] {
  return policies.map((policy) => `(${escapeControls(policy)})`);
}

function skippedText({ skipped }: PlanView['steps'][number]): string {
  return skipped === null ? '' : `(would be skipped: ${escapeControls(skipped)})`;
}

function elsewhere(dir: string, usual: string): string {
  return dir === usual ? '' : `(in ${escapeControls(dir)})`;
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
