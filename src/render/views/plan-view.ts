import type { Plan, PlannedDotenv, PlannedStep } from '../../core/plan.ts';
import type { Param } from '../../core/run/run.ts';
import type { Terminal } from '../reporters/reporter.ts';
import { createColors } from '../text/colors.ts';
import { paramValueText } from '../text/params-text.ts';
import { escapeControls } from '../text/sanitize.ts';
import { padEnd, textWidth } from '../text/width.ts';

/**
 * Renders a plan as text: parameters and environment, then the steps wave by wave with their commands. The directory is named
 * once, and again for a step in another one. Ends with a line break.
 */
export function renderPlan(plan: Plan, { color }: Pick<Terminal, 'color'>): string {
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
    ...paramRows(plan.params).map((row) => `${colors.dim('param:')} ${row}`),
    ...plan.dotenv.map((file) => `${colors.dim('dotenv:')} ${escapeControls(dotenvText(file))}`),
    ...(plan.unreadDotenv === null
      ? []
      : [`${colors.dim('dotenv:')} ${escapeControls(unreadText(plan.unreadDotenv))}`]),
    ...Object.entries(plan.env).map(([name, value]) => `${colors.dim('env:')} ${escapeControls(`${name}=${value}`)}`),
    ...(plan.limits ?? []).map((limit) => `${colors.dim('limit:')} ${escapeControls(limit)}`),
    ...(dir === '' ? [] : [`${colors.dim('dir:')} ${escapeControls(dir)}`]),
    ...plan.waves.flatMap((names, index) => ['', colors.cyan(`wave ${index + 1}`), ...names.map(stepLine)]),
    ...(plan.handlers.length === 0 ? [] : ['', colors.cyan('handlers')]),
    ...plan.handlers.map(({ name }) => stepLine(name)),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** A line for each parameter: its name or position, its type if it is declared, and its value. */
function paramRows(params: readonly Param[]): readonly string[] {
  const rows = params.map(({ name, type, value }, index) => [
    name ?? `$${index + 1}`,
    type ?? '',
    paramValueText(value),
  ]);
  const widths = [0, 1].map((column) => Math.max(0, ...rows.map((row) => textWidth(row[column] ?? ''))));
  return rows.map((row) => {
    const padded = row.map((cell, column) => padEnd(cell, widths[column] ?? 0));
    return padded
      .filter((cell) => cell !== '')
      .join('  ')
      .trimEnd();
  });
}

function workText({ executor, command }: PlannedStep): string {
  const work = escapeControls(command);
  if (executor === 'command') return work;
  return work === '' ? executor : `${executor}: ${work}`;
}

function dotenvText({ path, names }: PlannedDotenv): string {
  return `${path} ${names === null ? '(does not exist)' : names.join(' ')}`.trimEnd();
}

function unreadText(path: string): string {
  return `${path} is not read: "dotenv: .env" in the workflow reads it`;
}

function policyTexts({ policies }: PlannedStep): readonly string[] {
  return policies.map((policy) => `(${escapeControls(policy)})`);
}

function skippedText({ skipped }: PlannedStep): string {
  return skipped === null ? '' : `(would be skipped: ${escapeControls(skipped)})`;
}

function elsewhere(dir: string, usual: string): string {
  return dir === usual ? '' : `(in ${escapeControls(dir)})`;
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
