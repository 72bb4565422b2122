import type { Workflow } from '../workflow.ts';
import type { Secrets } from './secrets.ts';

/** Keys under which a workflow keeps the names by which it is held together; they are told as they are. */
const names = new Set(['name', 'file', 'group', 'depends', 'type']);

/** The workflow as it may be stored and shown: without the secrets in its texts. */
export function maskWorkflow(workflow: Workflow, secrets: Secrets): Workflow {
  return maskTexts(workflow, secrets, names) as Workflow;
}

function maskTexts(value: unknown, secrets: Secrets, kept: ReadonlySet<string>): unknown {
  if (typeof value === 'string') return secrets.mask(value);
  if (Array.isArray(value)) return value.map((item) => maskTexts(item, secrets, kept));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (kept.has(key)) return [key, item];
      // What an executor is configured with has keys of its own, of which none is a name of ours.
      return [key, maskTexts(item, secrets, key === 'config' ? new Set() : kept)];
    }),
  );
}
