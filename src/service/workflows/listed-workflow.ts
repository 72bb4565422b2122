import { parse } from 'node:path';
import { type LoadResult, loadWorkflow } from '#language/load.ts';
import { WfError } from '#system/errors.ts';
import type { LoadWorkflow } from './load-workflow.ts';
import { groupOf } from './workflow-files.ts';

/** A workflow of the workflows directory; if it has errors, its `workflow` is null. */
export type ListedWorkflow = LoadResult & { readonly file: string; readonly name: string; readonly group: string };

/** The workflows directory, and the base configuration, which need not exist. */
export type ListingPlaces = { readonly dagsDir: string | null; readonly base: string | null };

/** Reads a file for a listing. An unreadable file is listed too and does not affect the others. */
export function readListed(file: string, places: ListingPlaces): ListedWorkflow {
  const request = requestOf(file, places);
  return listed(
    request,
    orTold(() => loadWorkflow(request)),
  );
}

/** Reads a file for a listing by a loader that may be asynchronous. */
export function loadListed(
  file: string,
  places: ListingPlaces,
  load: LoadWorkflow,
): ListedWorkflow | Promise<ListedWorkflow> {
  const request = requestOf(file, places);
  const loaded = orTold(() => load(request));
  if (!(loaded instanceof Promise)) return listed(request, loaded);
  return loaded.catch((error: unknown) => toldOf(error)).then((result) => listed(request, result));
}

type Request = { readonly file: string; readonly group: string; readonly base: string | null };

function requestOf(file: string, { dagsDir, base }: ListingPlaces): Request {
  return { file, group: groupOf(file, dagsDir), base };
}

function listed({ file, group }: Request, loaded: LoadResult): ListedWorkflow {
  return { ...loaded, file, group, name: loaded.workflow?.name ?? parse(file).name };
}

function orTold<T>(load: () => T): T | LoadResult {
  try {
    return load();
  } catch (error) {
    return toldOf(error);
  }
}

function toldOf(error: unknown): LoadResult {
  // A temporary error of the machine is not a fault of the file and must not be cached as one.
  if (!(error instanceof WfError) || error.code === 'storage') throw error;
  return { workflow: null, sources: [], diagnostics: [unreadable(error)] };
}

/** Creates the diagnostic for a file that cannot be read. */
export function unreadable({ message, help }: WfError, code = 'unreadable'): LoadResult['diagnostics'][number] {
  return { severity: 'error', code, message, place: null, label: '', related: [], importedFrom: [], help };
}
