import { type Config, dagsDirFor, workflowDirectories } from '#config/config.ts';
import { given } from '#core/data/collections.ts';
import type { ChildWorkflow } from '#engine/engine.ts';
import type { FindSubworkflow, LoadSubworkflow } from '#engine/local/engine-options.ts';
import type { TemporalEngineTools } from '#engine/temporal/client/temporal-engine.ts';
import type { History } from '#service/history.ts';
import { acceptParams, childParams, retryChildren, withDotenv } from '#service/start-runs.ts';
import { getWorkflow, InvalidWorkflow } from '#service/workflows.ts';
import { WfError } from '#system/errors.ts';
import { expandHome } from '#system/files.ts';
import { logStoreDirectory } from './run-store.ts';

/** Finds the workflow of a step when the step starts, with its parameters. */
export function subworkflowFinder(config: Config): FindSubworkflow {
  return async ({ known, ...asked }) => {
    const { dotenv, ...found } = known ?? readSubworkflow(config, asked);
    const params = acceptParams(found.workflow, childParams(found.workflow, asked), {
      isComplete: true,
      isJsonValue: true,
    });
    const named = params.filter(({ name }) => name !== null);
    return { ...(await withDotenv({ ...found, ...given({ dotenv }), params: named }, config.processEnv)), params };
  };
}

/** Whether the run of a workflow before this one failed. */
export type FailedBefore = (
  run: { readonly runId: string; readonly file: string | null; readonly workflow: string },
  config: Config,
) => Promise<boolean>;

/** Reads the workflows that steps run before their run starts, for an engine, and plans the retries of earlier ones. */
export function knownWorkflowTools(
  config: Config,
  readHistory: () => Pick<History, 'read'>,
  failedBefore: FailedBefore | null,
): TemporalEngineTools['known'] {
  return {
    keepsFiles: logStoreDirectory(config) !== null,
    load: (asked) => withDotenv<ChildWorkflow>(readSubworkflow(config, asked), config.processEnv),
    failedBefore: async (runId, { file, name }) =>
      failedBefore !== null && (await failedBefore({ runId, file, workflow: name }, config)),
    retriesOf: (retryOf, workflowOf) => retryChildren(retryOf, workflowOf, readHistory()),
  };
}

/** `run:` names a document of its file, a file next to its parent, or a workflow in the workflows directory. */
function readSubworkflow(config: Config, { run, parent, sources }: Parameters<LoadSubworkflow>[0]): ChildWorkflow {
  const directories = { ...workflowDirectories(config), cwd: parent.dir, dagsDir: dagsDirFor(config, parent.dir) };
  const { documents = {} } = parent;
  const document = Object.hasOwn(documents, run) ? documents[run] : undefined;
  if (document !== undefined) return { workflow: { ...document, documents }, sources };
  try {
    const { workflow, sources } = getWorkflow({ name: expandHome(run, config.processEnv['HOME']) }, directories);
    return { workflow, sources };
  } catch (error) {
    throw error instanceof InvalidWorkflow ? new WfError('invalid-workflow', error.inOneLine) : error;
  }
}
