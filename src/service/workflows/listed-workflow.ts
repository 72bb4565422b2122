import { parse } from 'node:path';
import { WfError } from '../../errors.ts';
import { type LoadResult, loadWorkflow } from '../../spec/load.ts';
import { groupOf } from './workflow-files.ts';

/** A workflow of the workflows directory, also one that has errors; then its `workflow` is null. */
export type ListedWorkflow = LoadResult & { readonly file: string; readonly name: string; readonly group: string };

/** Where listed workflows lie, and the configuration beneath them all, which need not exist. */
export type ListedPlaces = { readonly dagsDir: string | null; readonly base: string | null };

/** Reads a file for a listing. One that cannot be read is listed too: that costs none of the others. */
export function readListed(file: string, { dagsDir, base }: ListedPlaces): ListedWorkflow {
  const group = groupOf(file, dagsDir);
  const loaded = loadOrTell({ file, group, base });
  return { ...loaded, file, group, name: loaded.workflow?.name ?? parse(file).name };
}

function loadOrTell(request: {
  readonly file: string;
  readonly group: string;
  readonly base: string | null;
}): LoadResult {
  try {
    return loadWorkflow(request);
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
    return { workflow: null, sources: [], diagnostics: [unreadable(error)] };
  }
}

function unreadable({ message, help }: WfError): LoadResult['diagnostics'][number] {
  return {
    severity: 'error',
    code: 'unreadable',
    message,
    place: null,
    label: '',
    related: [],
    importedFrom: [],
    help,
  };
}
