import { workflowDirectories } from '#config/config.ts';
import type { RetrySelection } from '#core/run/retry.ts';
import { escapeControls } from '#render/text.ts';
import { type PastRun, requireRunOf } from '#service/history.ts';
import { fileOf, retryRequest, workflowChanges } from '#service/start-runs.ts';
import type { LoadedWorkflow } from '#service/workflows.ts';
import { WfError } from '#system/errors.ts';
import { reachOf, serverOf } from '../../access/open-service.ts';
import { configFor } from '../../reference.ts';
import { approvalPolicy, envFilesOf, givenParameters, hasParameters } from '../../run/parameters.ts';
import { printNothingToDo, type RetryOptions, startLocally, withEngineOf } from '../../run/start-locally.ts';
import type { Console } from '../../terminal/console.ts';

/** Retries the steps of a run that did not succeed, in the foreground unless it is detached. */
export async function retryCommand(options: RetryOptions, console: Console): Promise<number> {
  const selection = selectionOf(options);
  const params = hasParameters(options) ? givenParameters(options) : null;
  const config = configFor(options);
  const server = await serverOf(options, config);
  if (server !== null) {
    const { retryRemotely } = await import('../../run/start-remotely.ts');
    return retryRemotely(server, { options, config, selection, params }, console);
  }
  const { createPast } = await import('#app/history-app.ts');
  const { history } = createPast(config, { reach: reachOf(options, config, console) });
  const run = await history.find(options.req ?? options.run);
  if (options.req !== undefined) requireRunOf(options.run, { ...run.state, runId: run.runId }, config.cwd);
  const current = options.file ? fileOf(run, workflowDirectories(config)) : null;
  const strict = config.settings.read('strict').value;
  const envFiles = envFilesOf(options);
  const runId = options.runId ?? null;
  if (runId !== null && (await history.read(runId)) !== null) throw idOfOldRun(runId);
  const request = await retryRequest(run, { selection, params, envFiles, current, runId, strict }, history);
  if (request === null) return printNothingToDo(run.runId, console);
  if (current !== null) console.err.write(`${escapeControls(changesText(run, current))}\n`);
  const attended = { ...request, ...approvalPolicy({ options, config }, console) };
  return startLocally({ request: attended, config: withEngineOf(run, config) }, options, console);
}

/** Other runners name the run to retry so. */
function idOfOldRun(runId: string): WfError {
  return new WfError('run-exists', `a run "${runId}" exists already, and --run-id names the new run`, {
    help: `wf retry ${runId} retries that run`,
  });
}

function selectionOf({ step, from }: RetryOptions): RetrySelection {
  if (step !== undefined && from !== undefined) throw new WfError('usage', '--step and --from exclude each other');
  if (step !== undefined) return { only: step };
  return from === undefined ? { steps: 'unfinished' } : { from };
}

function changesText({ stored }: PastRun, { workflow }: LoadedWorkflow): string {
  if (stored === null) return 'the file of that run is missing, so its changes are unknown';
  const changes = workflowChanges(stored.workflow, workflow);
  return changes.length === 0 ? 'the file has not changed' : `the file has changed: ${changes.join('; ')}`;
}
