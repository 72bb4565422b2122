import { type Config, workflowDirectories } from '#config/config.ts';
import { given } from '#core/data/collections.ts';
import type { Workflow } from '#core/workflow.ts';
import { views } from '#render/views.ts';
import { getWorkflow, planRun } from '#service/workflows.ts';
import type { StepChecks } from '#store/store.ts';
import { systemClock } from '#system/clock.ts';
import { LOCAL_ENGINE } from '#system/engine-address.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { CommonOptions } from '../../program/add-command.ts';
import { configFor, workflowReference } from '../../reference.ts';
import { envFilesOf, givenParameters, type ParameterOptions, timeOption } from '../../run/parameters.ts';
import { type PartOptions, selectedPart, warnOfStepName } from '../../run/prepare-run.ts';
import type { Console } from '../../terminal/console.ts';

type DryOptions = CommonOptions &
  ParameterOptions &
  PartOptions & {
    readonly name: string;
    readonly for?: string;
    readonly json?: true;
  };

/** Prints the plan of a run. */
export async function dryCommand(options: DryOptions, console: Console): Promise<number> {
  const params = givenParameters(options);
  const config = configFor(options);
  const { workflow, sources, warnings } = getWorkflow(workflowReference(options.name), workflowDirectories(config));
  warnOfStepName(workflow, params, options, console);
  const selection = await selectedPart(workflow, options, console);
  const envFiles = envFilesOf(options) ?? [];
  const moment = options.for === undefined ? null : { scheduledFor: timeOption('--for', options.for, workflow) };
  const checks = await stepChecks(workflow, config);
  const request = { workflow, sources, params, envFiles, ...given({ selection, moment, checks }) };
  const planned = await planRun(request, config.processEnv, systemClock.now());
  const isLocal = config.settings.read('engine').value === LOCAL_ENGINE;
  const checkFit = isLocal ? null : await (await import('#app/engine-app.ts')).openFitCheck(config);
  const engine = await checkFit?.({ workflow, sources, params: planned.params, variables: planned.env });
  const plan = { ...planned, ...given({ engine }) };
  if (warnings.length > 0) {
    const { printWarnings } = await import('../../run/foreground.ts');
    await printWarnings({ warnings, sources }, 'plain', console);
  }
  if (options.json) {
    console.out.write(`${JSON.stringify(plan, null, 2)}\n`);
  } else {
    const { renderPlan } = await views.plan();
    console.out.write(renderPlan(plan, console.outTerminal));
  }
  return plan.engine === undefined || plan.engine.refusals.length === 0 ? exitCodes.succeeded : exitCodes.unusable;
}

/** The earlier successes of a workflow, some of whose steps have `sources`; null without any. */
export async function stepChecks(
  { file, steps }: Workflow,
  config: Pick<Config, 'runsDir' | 'settings'>,
): Promise<StepChecks | null> {
  if (file === null || steps.every(({ upToDate }) => upToDate === undefined)) return null;
  return (await import('#app/history-app.ts')).stepChecksFor(config, file);
}
