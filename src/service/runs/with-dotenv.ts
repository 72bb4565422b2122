import type { SecretSource, Workflow } from '#core/workflow.ts';
import type { Environment } from '#environment/environment.ts';
import { refuseReplacements } from './given-params.ts';

type Wants = Parameters<typeof refuseReplacements>[0] & { readonly envFiles?: readonly string[] };

/**
 * Reads the dotenv files of a request, unless it has read them before. The variables of secret files become secrets of
 * its workflow. Throws a `WfError`: `usage` that names the file and the line, `invalid-params` for a parameter that would
 * replace what they, the file or the environment set.
 */
export async function withDotenv<Request extends Wants>(asked: Request, processEnv: Environment): Promise<Request> {
  const request = await readFiles(asked, processEnv);
  refuseReplacements(request, processEnv);
  return request;
}

async function readFiles<Request extends Wants>(request: Request, processEnv: Environment): Promise<Request> {
  const { workflow, envFiles = [], dotenv, params = [] } = request;
  if (dotenv !== undefined || (workflow.dotenv === undefined && envFiles.length === 0)) return request;
  const { readDotenv } = await import('./read-dotenv.ts');
  const { secretNames, ...read } = readDotenv({ workflow, params, envFiles }, processEnv);
  return { ...request, workflow: withSecrets(workflow, secretNames), dotenv: read };
}

function withSecrets(workflow: Workflow, names: readonly string[]): Workflow {
  const listed = new Set(workflow.secrets.map(({ name }) => name));
  const added = names
    .filter((name) => !listed.has(name))
    .map((name): SecretSource => ({ name, env: null, file: null }));
  return added.length === 0 ? workflow : { ...workflow, secrets: [...workflow.secrets, ...added] };
}
