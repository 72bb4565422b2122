import { parse } from 'node:path';
import { findWorkflowFiles, groupOf } from '#service/workflows.ts';
import type { Candidate } from './expected.ts';

/** Returns the names of the workflows in the workflows directory, with the group if the name alone is ambiguous. */
export function workflowCandidates(dagsDir: string | null): readonly Candidate[] {
  if (dagsDir === null) return [];
  const found = findWorkflowFiles(dagsDir).files.map((file) => ({
    name: parse(file).name,
    group: groupOf(file, dagsDir),
  }));
  const counts = new Map<string, number>();
  for (const { name } of found) counts.set(name, (counts.get(name) ?? 0) + 1);
  return found.map(({ name, group }) => ({
    value: group !== '' && (counts.get(name) ?? 0) > 1 ? `${group}/${name}` : name,
    description: group === '' ? 'workflow' : `workflow in ${group}`,
  }));
}
