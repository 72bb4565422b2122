import type { Outcome } from '../../core/run/run.ts';
import type { JsonObject } from '../../core/workflow.ts';
import type { Attempt, Executor } from '../executor.ts';
import { runTool, settingsProblem, stoppedByInterrupt, wantsColor } from '../tool.ts';
import { expandHome, stepWords, type ToolSettings, toolSettings } from '../tool-settings.ts';

const install = 'install Terraform (https://developer.hashicorp.com/terraform/install), or name it with "binary"';

/**
 * Runs Terraform: `init` first when asked, then the subcommand. It is stopped by SIGINT, after which it saves its state and
 * gives back its lock; so it would after SIGTERM, but that reaches the providers too, which do not survive it.
 */
export const executor: Executor = { run: (config, attempt) => runTerraform(config, stoppedByInterrupt(attempt)) };

async function runTerraform(config: JsonObject, attempt: Attempt): Promise<Outcome> {
  const settings = toolSettings(config, attempt);
  const words = stepWords(attempt);
  if (words === null)
    return settingsProblem('the "command" of a terraform step is its further arguments, not shell code');
  const commands = terraformCommands(terraformSettings(settings, words, attempt));
  if ('problem' in commands) return settingsProblem(commands.problem);
  const env = { ...attempt.env, ...Object.fromEntries(settings.entries('env')) };
  const run = (argv: readonly string[], as: Attempt) => runTool(as, { argv, cwd: attempt.cwd, env }, { install });
  if (commands.init !== null) {
    const outcome = await run(commands.init, besideOutput(attempt));
    if (outcome.status !== 'succeeded') return ofInit(outcome);
  }
  return run(commands.main, attempt);
}

/** What `init` prints is no part of what somebody is to read from the step's output: then it goes where warnings go. */
function besideOutput(attempt: Attempt): Attempt {
  const { step, log } = attempt;
  if (step.output === null && step.stdout === null) return attempt;
  const { stderrFd, stderrPath } = log;
  return { ...attempt, log: { ...log, stdoutFd: stderrFd, stdoutPath: stderrPath } };
}

/** What could not even be started says enough. */
function ofInit(outcome: Outcome): Outcome {
  if (outcome.status !== 'failed' || outcome.reason === 'error' || outcome.exitCode === 127) return outcome;
  return { ...outcome, message: `terraform init: ${outcome.message}` };
}

function terraformSettings(settings: ToolSettings, words: readonly string[], { env }: Attempt): TerraformSettings {
  const { text, texts, entries, isSet } = settings;
  const path = (value: string | null) => (value === null ? null : expandHome(value, env));
  const subcommand =
    text('subcommand')
      ?.split(/\s+/)
      .filter((word) => word !== '') ?? [];
  return {
    binary: path(text('binary')) ?? 'terraform',
    workingDir: path(text('workingDir')),
    init: isSet('init'),
    initArgs: texts('initArgs'),
    backendConfig: [...entries('backendConfig').map(([name, value]) => `${name}=${value}`), ...texts('backendConfig')],
    words: [...subcommand, ...words],
    args: texts('args'),
    varFiles: texts('varFiles').map((file) => expandHome(file, env)),
    vars: entries('vars'),
    targets: texts('targets'),
    autoApprove: isSet('autoApprove'),
    planFile: path(text('planFile')),
    color: wantsColor(env),
  };
}

/** What a step asks of Terraform, with all variables replaced. */
export type TerraformSettings = {
  readonly binary: string;
  readonly workingDir: string | null;
  readonly init: boolean;
  readonly initArgs: readonly string[];
  /** `name=value` texts or files. */
  readonly backendConfig: readonly string[];
  /** The subcommand and what the step adds to it; empty when only `init` is asked for. */
  readonly words: readonly string[];
  /** Options of the subcommand beyond those that have a setting. */
  readonly args: readonly string[];
  readonly varFiles: readonly string[];
  readonly vars: readonly (readonly [name: string, value: string])[];
  readonly targets: readonly string[];
  readonly autoApprove: boolean;
  readonly planFile: string | null;
  readonly color: boolean;
};

/** What is to be started: the step's own command, and `init` before it where that is asked for. */
type TerraformCommands = {
  readonly init: readonly string[] | null;
  readonly main: readonly string[];
};

/** Which subcommands take an option, by Terraform's own help (1.11); to others it is not given. */
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

/** Subcommands whose next word says more: `state list`. */
const families = new Set(['state', 'workspace', 'providers', 'metadata']);

/** The arguments for Terraform, or why there are none. */
export function terraformCommands(settings: TerraformSettings): TerraformCommands | { readonly problem: string } {
  const { words, planFile, init } = settings;
  const [subcommand] = words;
  if (subcommand === undefined) {
    return init ? { init: null, main: initArgv(settings) } : { problem: 'the terraform executor needs "subcommand"' };
  }
  if (planFile !== null && !takers.planFile.has(subcommand)) {
    return { problem: `"planFile" is written by plan and read by apply and show; "${subcommand}" would not use it` };
  }
  return { init: init ? initArgv(settings) : null, main: mainArgv(subcommand, settings) };
}

function initArgv(settings: TerraformSettings): readonly string[] {
  const { initArgs, backendConfig } = settings;
  const backend = backendConfig.map((entry) => `-backend-config=${entry}`);
  return [...beginning(settings), 'init', ...generalOptions('init', initArgs, settings), ...backend, ...initArgs];
}

/** Terraform takes nothing for an option that stands behind the first argument that is none. */
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

/** A plan that is applied holds its variables and targets, and Terraform refuses to be given them again. */
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
