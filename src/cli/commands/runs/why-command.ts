import { workflowDirectories } from '#config/config.ts';
import { staleText } from '#core/fingerprint.ts';
import type { StepWhy } from '#core/plan.ts';
import { escapeControls } from '#render/text.ts';
import { getWorkflow, planRun } from '#service/workflows.ts';
import { systemClock } from '#system/clock.ts';
import { WfError } from '#system/errors.ts';
import type { CommonOptions } from '../../program/add-command.ts';
import { configFor, workflowReference } from '../../reference.ts';
import { envFilesOf, givenParameters, type ParameterOptions } from '../../run/parameters.ts';
import type { Console } from '../../terminal/console.ts';
import { stepChecks } from './dry-command.ts';

type WhyOptions = CommonOptions &
  ParameterOptions & { readonly name: string; readonly step: string; readonly json?: true };

/** Prints all inputs of a step that differ from those of its last success. */
export async function whyCommand(options: WhyOptions, { out }: Console): Promise<void> {
  const config = configFor(options);
  const { workflow, sources } = getWorkflow(workflowReference(options.name), workflowDirectories(config));
  const step = workflow.steps.find(({ name, id }) => name === options.step || id === options.step);
  if (step === undefined) throw new WfError('not-found', `workflow "${workflow.name}" has no step "${options.step}"`);
  if (step.upToDate === undefined) {
    const help = 'wf schema steps.sources describes them';
    throw new WfError('usage', `step "${step.name}" has no "sources": it runs in each run`, { help });
  }
  const checks = await stepChecks(workflow, config);
  if (checks === null) throw new WfError('usage', 'there is no home directory, so no success is stored');
  const asked = { workflow, sources, params: givenParameters(options), envFiles: envFilesOf(options) ?? [] };
  const request = { ...asked, mostReasons: Number.POSITIVE_INFINITY, checks };
  const plan = await planRun(request, config.processEnv, systemClock.now());
  const cache = plan.steps.find(({ name }) => name === step.name)?.cache;
  if (cache === undefined) return;
  const why: StepWhy = { step: step.name, ...cache };
  const lines = options.json ? [JSON.stringify(why, null, 2)] : linesOf(why).map(escapeControls);
  out.write(`${lines.join('\n')}\n`);
}

function linesOf({ step, hit, reason, from, problem, restored }: StepWhy): readonly string[] {
  if (problem !== undefined) return [`"${step}" would fail: ${problem}`];
  if (hit === null) return [`whether "${step}" is up to date is known only during a run`];
  const reasons = reason.map((each) => `  ${staleText(each)}`);
  if (restored)
    return [`"${step}" would be restored from run ${from}, since its last success does not do:`, ...reasons];
  if (hit) return [`"${step}" is up to date as of run ${from}`];
  const compared = from === null ? '' : `, compared with its success in run ${from}`;
  return [`"${step}" would run${compared}:`, ...reasons];
}
