import { failed } from '#core/run/outcome.ts';
import type { Outcome } from '#core/run/run.ts';
import { withCodeArgs } from '#core/words/command-args.ts';
import { runProcess } from '#processes/subprocess.ts';
import { messageOf } from '#system/errors.ts';
import type { Attempt, Executor } from '../executor.ts';
import {
  type CommandLine,
  commandLine,
  interpreterLine,
  type ScriptFile,
  stepShell,
  writeScript,
} from './command-line.ts';

/** Runs `command` with its `args`, or a `script` with its interpreter, as a process that writes directly to the log. */
export const executor: Executor = { run: (_config, attempt) => runStep(attempt) };

async function runStep(attempt: Attempt): Promise<Outcome> {
  const { step } = attempt;
  if (step.script !== null) return runScript(step.script, attempt);
  if (step.command === null) return failed('the step has no command');
  const { command, args } = withCodeArgs(step);
  return runLine(commandLine(command ?? '', args.map(attempt.expand), attempt), attempt);
}

/** The script's arguments are the step's `args`, or else the run's parameters. */
async function runScript(script: string, attempt: Attempt): Promise<Outcome> {
  const { step } = attempt;
  let file: ScriptFile;
  try {
    file = writeScript(attempt.scratch(), step.name, script);
  } catch (error) {
    return failed(`the script could not be written: ${messageOf(error)}`);
  }
  try {
    const args = step.args.length > 0 ? step.args.map(attempt.expand) : attempt.params;
    return await runLine(scriptLine(script, [file.path, ...args], attempt), attempt);
  } finally {
    file.remove();
  }
}

function scriptLine(script: string, fileAndArgs: readonly string[], attempt: Attempt): CommandLine {
  const { command } = attempt.step;
  if (command !== null) return commandLine(command, fileAndArgs, attempt, false);
  const interpreter = interpreterLine(script) ?? stepShell(attempt);
  if ('problem' in interpreter) return interpreter;
  return { argv: [...interpreter, ...fileAndArgs], cwd: attempt.cwd, env: attempt.env };
}

async function runLine(line: CommandLine, attempt: Attempt): Promise<Outcome> {
  return 'problem' in line ? failed(line.problem) : runProcess(attempt, line);
}
