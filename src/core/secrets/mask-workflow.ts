import type { Workflow } from '../workflow.ts';
import type { Secrets } from './secrets.ts';

/** Keys whose values are names that connect the parts of a workflow; they are not masked. */
const names = new Set(['name', 'file', 'group', 'depends', 'type']);

/** The workflow without the secrets in its texts, to be stored and shown. */
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
      // The configuration of an executor has its own keys, none of which is such a name.
      return [key, maskTexts(item, secrets, key === 'config' ? new Set() : kept)];
    }),
  );
}
