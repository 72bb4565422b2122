import { workflowDirectories } from '#config/config.ts';
import { escapeControls } from '#render/text.ts';
import { getWorkflow } from '#service/workflows.ts';
import { WfError } from '#system/errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { CommonOptions } from '../../program/add-command.ts';
import { configFor, workflowReference } from '../../reference.ts';
import { envFilesOf, givenParameters, type ParameterOptions } from '../../run/parameters.ts';
import type { Console } from '../../terminal/console.ts';

type NotifyOptions = CommonOptions & ParameterOptions & { readonly name: string; readonly json?: true };

/** Sends a sample of each notification of a workflow; exits with 1 if one is not accepted. */
export async function notifyCommand(options: NotifyOptions, console: Console): Promise<number> {
  const params = givenParameters(options);
  const config = configFor(options);
  const { sendSamples } = await import('#app/app.ts');
  const loaded = getWorkflow(workflowReference(options.name), workflowDirectories(config));
  if (loaded.workflow.notify === undefined) {
    const help = 'add "notify: {to: slack, url: $SLACK_URL}" to the file';
    throw new WfError('usage', `workflow "${loaded.workflow.name}" has no notifications`, { help });
  }
  const envFiles = envFilesOf(options) ?? [];
  const request = { ...loaded, params, envFiles, runId: null, trigger: 'cli' } as const;
  const { deliveries, problem } = await sendSamples(config, request);
  if (problem !== null) throw new WfError('usage', `no sample was sent: ${problem}`);
  if (options.json) console.out.write(`${JSON.stringify(deliveries, null, 2)}\n`);
  else {
    for (const { to, host, problem: why } of deliveries) {
      const result = why === null ? 'sent' : `not sent: ${why}`;
      console.out.write(`${escapeControls(`${host === null ? to : `${to} (${host})`}: ${result}`)}\n`);
    }
  }
  return deliveries.every(({ problem: why }) => why === null) ? exitCodes.succeeded : exitCodes.failed;
}
