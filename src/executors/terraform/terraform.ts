import { failed } from '#core/run/outcome.ts';
import type { Outcome } from '#core/run/run.ts';
import type { JsonObject } from '#core/workflow.ts';
import { expandHome } from '#system/files.ts';
import type { Attempt, Executor } from '../executor.ts';
import { runTool, stepWords, stoppedByInterrupt, type ToolSettings, toolSettings, wantsColor } from '../tool.ts';

const INSTALL = 'install Terraform (https://developer.hashicorp.com/terraform/install), or name it with "binary"';

/**
 * Runs Terraform: `init` first if requested, then the subcommand. A stop sends SIGINT, after which Terraform saves its
 * state and releases its lock. SIGTERM would also reach the providers, which do not survive it.
 */
export const executor: Executor = { run: (config, attempt) => runTerraform(config, stoppedByInterrupt(attempt)) };

async function runTerraform(config: JsonObject, attempt: Attempt): Promise<Outcome> {
  const settings = toolSettings(config, attempt);
  const words = stepWords(attempt);
  if (words === null) return failed('the "command" of a terraform step holds additional arguments, not shell code');
  const commands = terraformCommands(terraformSettings(settings, words, attempt));
  if ('problem' in commands) return failed(commands.problem);
  const env = { ...attempt.env, ...Object.fromEntries(settings.entries('env')) };
  const run = (argv: readonly string[], as: Attempt) =>
    runTool(as, { argv, cwd: attempt.cwd, env }, { install: INSTALL });
  if (commands.init !== null) {
    const outcome = await run(commands.init, besideOutput(attempt));
    if (outcome.status !== 'succeeded') return ofInit(outcome);
  }
  return run(commands.main, attempt);
}

/** The output of `init` is not part of the step's result, so it goes to standard error. */
function besideOutput(attempt: Attempt): Attempt {
  const { step, log } = attempt;
  if (step.output === null && step.stdout === null) return attempt;
  const { stderrFd, stderrPath } = log;
  return { ...attempt, log: { ...log, stdoutFd: stderrFd, stdoutPath: stderrPath } };
}

/** The message of a failed start needs no prefix. */
function ofInit(outcome: Outcome): Outcome {
  if (outcome.status !== 'failed' || outcome.reason === 'error' || outcome.exitCode === 127) return outcome;
  return { ...outcome, message: `terraform init: ${outcome.message}` };
}

function terraformSettings(settings: ToolSettings, words: readonly string[], { env }: Attempt): TerraformSettings {
  const { text, texts, entries, isSet } = settings;
  const path = (value: string | null) => (value === null ? null : expandHome(value, env['HOME']));
  const subcommand = text('subcommand')?.match(/\S+/g) ?? [];
  return {
    binary: path(text('binary')) ?? 'terraform',
    workingDir: path(text('workingDir')),
    init: isSet('init'),
    initArgs: texts('initArgs'),
    backendConfig: [...entries('backendConfig').map(([name, value]) => `${name}=${value}`), ...texts('backendConfig')],
    words: [...subcommand, ...words],
    args: texts('args'),
    varFiles: texts('varFiles').map((file) => expandHome(file, env['HOME'])),
    vars: entries('vars'),
    targets: texts('targets'),
    autoApprove: isSet('autoApprove'),
    planFile: path(text('planFile')),
    color: wantsColor(env),
  };
}

/** The settings of a Terraform step, with all variables replaced. */
export type TerraformSettings = {
  readonly binary: string;
  readonly workingDir: string | null;
  readonly init: boolean;
  readonly initArgs: readonly string[];
  /** `name=value` texts or files. */
  readonly backendConfig: readonly string[];
  /** The subcommand and its words; empty if only `init` is requested. */
  readonly words: readonly string[];
  readonly args: readonly string[];
  readonly varFiles: readonly string[];
  readonly vars: readonly (readonly [name: string, value: string])[];
  readonly targets: readonly string[];
  readonly autoApprove: boolean;
  readonly planFile: string | null;
  readonly color: boolean;
};

/** The commands to run: the step's own, preceded by `init` if requested. */
type TerraformCommands = { readonly init: readonly string[] | null; readonly main: readonly string[] };

/** Subcommands that accept an option, according to Terraform's help (1.11); others do not get it. */
const takers = {
  variables: new Set(['plan', 'apply', 'destroy', 'refresh', 'import', 'console', 'test']),
  targets: new Set(['plan', 'apply', 'destroy', 'refresh']),
  approval: new Set(['apply', 'destroy']),
  planFile: new Set(['plan', 'apply', 'show']),
  input: new Set(['init', 'plan', 'apply', 'destroy', 'refresh', 'import']),
  color: new Set([
    ...['init', 'plan', 'apply', 'destroy', 'refresh', 'import'],
    ...['validate', 'output', 'show', 'fmt', 'test', 'get'],
  ]),
};

/** Subcommands followed by another one: `state list`. */
const families = new Set(['state', 'workspace', 'providers', 'metadata']);

/** The arguments for Terraform, or the problem with them. */
export function terraformCommands(settings: TerraformSettings): TerraformCommands | { readonly problem: string } {
  const { words, planFile, init } = settings;
  const [subcommand] = words;
  if (subcommand === undefined) {
    return init ? { init: null, main: initArgv(settings) } : { problem: 'the terraform executor needs "subcommand"' };
  }
  if (planFile !== null && !takers.planFile.has(subcommand)) {
    return { problem: `"planFile" is used by plan, apply and show, not by "${subcommand}"` };
  }
  return { init: init ? initArgv(settings) : null, main: mainArgv(subcommand, settings) };
}

function initArgv(settings: TerraformSettings): readonly string[] {
  const { initArgs, backendConfig } = settings;
  const backend = backendConfig.map((entry) => `-backend-config=${entry}`);
  return [...beginning(settings), 'init', ...generalOptions('init', initArgs, settings), ...backend, ...initArgs];
}

/** Terraform reads no options after the first positional argument. */
function mainArgv(subcommand: string, settings: TerraformSettings): readonly string[] {
  const { words, args, planFile } = settings;
  const isInFamily = families.has(subcommand) && words[1]?.startsWith('-') === false;
  const given = [...args, ...words.slice(isInFamily ? 2 : 1)];
  return [
    ...beginning(settings),
    ...words.slice(0, isInFamily ? 2 : 1),
    ...generalOptions(subcommand, given, settings),
    ...planOptions(subcommand, settings),
    ...given,
    ...(planFile !== null && subcommand !== 'plan' ? [planFile] : []),
  ];
}

function beginning({ binary, workingDir }: TerraformSettings): readonly string[] {
  return workingDir === null ? [binary] : [binary, `-chdir=${workingDir}`];
}

function generalOptions(subcommand: string, given: readonly string[], { color }: TerraformSettings): readonly string[] {
  const isInputGiven = given.some((word) => /^--?input(=|$)/.test(word));
  return [
    ...(takers.input.has(subcommand) && !isInputGiven ? ['-input=false'] : []),
    ...(takers.color.has(subcommand) && !color ? ['-no-color'] : []),
  ];
}

/** An applied plan contains its variables and targets, and Terraform refuses to be given them again. */
function planOptions(subcommand: string, settings: TerraformSettings): readonly string[] {
  const { varFiles, vars, targets, autoApprove, planFile } = settings;
  const isPlanned = planFile !== null && subcommand === 'apply';
  const hasVariables = takers.variables.has(subcommand) && !isPlanned;
  const hasTargets = takers.targets.has(subcommand) && !isPlanned;
  return [
    ...(hasVariables ? varFiles.map((file) => `-var-file=${file}`) : []),
    ...(hasVariables ? vars.map(([name, value]) => `-var=${name}=${value}`) : []),
    ...(hasTargets ? targets.map((target) => `-target=${target}`) : []),
    ...(autoApprove && takers.approval.has(subcommand) ? ['-auto-approve'] : []),
    ...(planFile !== null && subcommand === 'plan' ? [`-out=${planFile}`] : []),
  ];
}
