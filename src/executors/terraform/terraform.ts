import type { Outcome } from '../../core/run/run.ts';
import type { JsonObject } from '../../core/workflow.ts';
import type { Attempt, Executor } from '../executor.ts';
import { runTool, settingsProblem, stoppedByInterrupt, wantsColor } from '../tool.ts';
import { expandHome, stepWords, type ToolSettings, toolSettings } from '../tool-settings.ts';
import { type TerraformSettings, terraformCommands } from './terraform-argv.ts';

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
