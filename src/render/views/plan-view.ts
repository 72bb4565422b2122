import type { ChalkInstance } from 'chalk';
import { staleSummary } from '#core/fingerprint.ts';
import type { EngineFit, NeededWorkers, Plan, PlannedCache, PlannedStep } from '#core/plan.ts';
import type { Param } from '#core/run/run.ts';
import type { Terminal } from '../reporters/reporter.ts';
import { columnsOf } from '../text/pack-lines.ts';
import { paramValueText, withType } from '../text/run-text.ts';
import { escapeControls } from '../text/sanitize.ts';
import { createColors } from '../text/terminal-style.ts';
import { counted, shortId } from '../text/value-text.ts';
import { cut, padEnd, textWidth, wrapped } from '../text/width.ts';

/** Renders a plan: parameters and environment, then the steps by wave, each with the values of its variables. */
export function renderPlan(
  plan: Plan,
  { color, ...terminal }: Pick<Terminal, 'color'> & Partial<Pick<Terminal, 'isTerminal' | 'size'>>,
): string {
  const colors = createColors(color);
  const columns = columnsOf(terminal);
  const all = [...plan.steps, ...plan.handlers];
  const steps = new Map(all.map((step) => [step.name, step]));
  const dir = plan.steps[0]?.dir ?? '';
  const widest = Math.min(30, Math.floor(columns / 3));
  const width = Math.min(widest, Math.max(0, ...all.map(({ name }) => textWidth(escapeControls(name)))));
  const stepLines = (name: string) => {
    const step = steps.get(name);
    const body = step === undefined ? [] : bodyLines(step, dir, columns - width - 4, colors);
    const label = escapeControls(name);
    const [first = '', ...rest] = textWidth(label) > width ? ['', ...body] : body;
    const indent = ' '.repeat(width + 4);
    return [
      `  ${colors.bold(padEnd(label, width))}${first === '' ? '' : `  ${first}`}`,
      ...rest.map((line) => indent + line),
    ];
  };
  const row = (label: string, text: string) => {
    const [first = '', ...rest] = wrapped(escapeControls(text), columns - label.length - 2);
    return [`${colors.dim(`${label}:`)} ${first}`, ...rest.map((line) => `${' '.repeat(label.length + 2)}${line}`)];
  };
  const lines = [
    `${colors.bold(escapeControls(plan.workflow))}: ${counted(plan.steps.length, 'step')} in ${counted(plan.waves.length, 'wave')}`,
    ...(plan.skipped === null
      ? []
      : wrapped(`nothing would run: ${escapeControls(plan.skipped)}`, columns).map((line) => colors.yellow(line))),
    ...(plan.scheduledFor === undefined ? [] : row('for', plan.scheduledFor)),
    ...paramRows(plan.params).flatMap((text) => row('param', text)),
    ...plan.dotenv.flatMap(({ path, names }) => {
      return row('dotenv', `${path} ${names === null ? '(does not exist)' : names.join(' ')}`.trimEnd());
    }),
    ...(plan.unreadDotenv === null
      ? []
      : row('dotenv', `${plan.unreadDotenv} is not read: "dotenv: .env" in the workflow reads it`)),
    ...Object.entries(plan.env).flatMap(([name, value]) => row('env', `${name}=${value}`)),
    ...(plan.limits ?? []).flatMap((limit) => row('limit', limit)),
    ...(plan.locks === undefined ? [] : row('holds', plan.locks)),
    ...(plan.late === undefined ? [] : row('late', plan.late)),
    ...(dir === '' ? [] : row('dir', dir)),
    ...(plan.engine === undefined ? [] : fitLines(plan.engine)).flatMap((line) => row('engine', line)),
    ...plan.waves.flatMap((names, index) => ['', colors.cyan(`wave ${index + 1}`), ...names.flatMap(stepLines)]),
    ...(plan.handlers.length === 0 ? [] : ['', colors.cyan('handlers')]),
    ...plan.handlers.flatMap(({ name }) => stepLines(name)),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** What a run needs of an engine, and whether the engine has it: a line for each. */
export function fitLines({ url, refusals, workers, queues, problem }: EngineFit): readonly string[] {
  return [
    problem === null ? url : problem.includes(url) ? problem : `${url}: ${problem}`,
    ...refusals.map(({ message, help }) => `refused: ${message}${help === null ? '' : ` (${help})`}`),
    ...workers.map((needed) => `${neededText(needed)}: ${connectedText(needed, problem)}`),
    ...queues.map((queue) => `waits for a slot of queue "${queue}"`),
  ];
}

/** The labels of workers with the steps that need them: `any worker`, `workers with gpu=true for "train"`. */
export function neededText({ labels, steps }: NeededWorkers): string {
  if (labels === '') return 'any worker';
  return `workers with ${labels} for ${steps.map((step) => `"${step}"`).join(', ')}`;
}

function connectedText({ connected }: NeededWorkers, problem: string | null): string {
  if (connected === null) return problem === null ? 'known when the run starts' : 'not known';
  return connected.length === 0 ? 'none is connected' : connected.join(', ');
}

/** The command line by line, notes behind its last line if they fit, else below, and the values of its variables. */
function bodyLines(step: PlannedStep, dir: string, columns: number, { dim }: ChalkInstance): readonly string[] {
  const command = workText(step)
    .split('\n')
    .flatMap((line) => wrapped(escapeControls(line.replaceAll('\t', TAB)), columns));
  const last = command.pop() ?? '';
  const notes = [
    ...(step.dir === dir ? [] : [`(in ${escapeControls(step.dir)})`]),
    ...step.policies.map((policy) => `(${escapeControls(policy)})`),
    ...(step.cache === undefined ? [] : [`(${escapeControls(plannedCacheText(step.cache))})`]),
    ...(step.skipped === null ? [] : [`(would be skipped: ${escapeControls(step.skipped)})`]),
  ];
  const noted = [last, ...notes].filter((text) => text !== '').join('  ');
  const values = Object.entries(step.values).flatMap(([name, value]) => {
    const line = `${/^\d/.test(name) ? '$' : ''}${name}=${paramValueText(value)}`;
    return wrapped(cut(line, LONGEST_VALUE, '...'), columns - 2);
  });
  return [
    ...command,
    ...(textWidth(noted) <= columns ? [noted] : [last, ...notes.flatMap((note) => wrapped(note, columns))]),
    ...values.map((line) => dim(`  ${line}`)),
  ];
}

/** Whether a step would run: `would run: src/a.ts changed, 2 more`. */
function plannedCacheText({ hit, reason, more, from, problem, restored }: PlannedCache): string {
  if (problem !== undefined) return problem;
  if (hit === false) return `would run: ${staleSummary({ reason, ...(more === undefined ? {} : { more }) })}`;
  if (hit === null) return 'whether it is up to date is known only during a run';
  return restored ? `would be restored from run ${shortId(from ?? '')}` : `up to date as of run ${shortId(from ?? '')}`;
}

/** In place of a tab, which a terminal would align by itself. */
const TAB = '    ';

const LONGEST_VALUE = 200;

/** A line for each parameter: its name or position, its type if it is declared, and its value. */
function paramRows(params: readonly Param[]): readonly string[] {
  const rows = params.map(({ name, type, value }, index) => [
    name ?? `$${index + 1}`,
    type ?? '',
    paramValueText(value),
  ]);
  const widths = [0, 1].map((column) => rows.reduce((width, row) => Math.max(width, textWidth(row[column] ?? '')), 0));
  return rows.map((row) => {
    const padded = row.map((cell, column) => padEnd(cell, widths[column] ?? 0));
    return padded
      .filter((cell) => cell !== '')
      .join('  ')
      .trimEnd();
  });
}

/** The command, and the script below it; a script alone, and one of a single line, starts in its line. */
function workText({ executor, command, script }: PlannedStep): string {
  const text = withType(executor, command);
  if (script === undefined || text === '') return script ?? text;
  return `${text}:${script.includes('\n') ? '\n' : ' '}${script}`;
}
