import type { Param } from '../../core/run/run.ts';
import type { Workflow } from '../../core/workflow.ts';
import { mergeParams } from '../../engine/local/environment/environment.ts';

/** Returns the names of the parameters that neither the file nor the caller sets, in the order of the file. */
export function openParams({ params }: Pick<Workflow, 'params'>, given: readonly Param[]): readonly string[] {
  const open = new Set(params.flatMap((param) => (param.open && param.name !== null ? [param.name] : [])));
  if (open.size === 0) return [];
  return mergeParams(params, given).flatMap(({ name, isTemplate }) =>
    isTemplate && name !== null && open.has(name) ? [name] : [],
  );
}
