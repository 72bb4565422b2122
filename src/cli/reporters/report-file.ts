import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { WfError } from '../../errors.ts';
import { writeWhole } from '../terminal/write-file.ts';

/** A file to be written later, all of it at once: whoever reads it finds either what was there before or the whole. */
export type ReportFile = {
  /** Throws a `WfError` `storage`. */
  readonly write: (text: string) => void;
};

/** Throws a `WfError` `usage` when the file could not be written, before anything has begun. */
export function openReportFile(path: string, cwd: string): ReportFile {
  const target = resolve(cwd, path);
  const problem = problemWith(target);
  if (problem === null) return { write: (text) => writeWhole(target, [text]) };
  const { why, help } = problem;
  throw new WfError('usage', `the report "${path}" cannot be written: ${why}`, help === null ? {} : { help });
}

function problemWith(target: string): { readonly why: string; readonly help: string | null } | null {
  const stats = statSync(target, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return { why: 'it is a directory', help: null };
  // A pipe or a device is written to as it is.
  if (stats !== undefined && !stats.isFile()) return null;
  const directory = dirname(target);
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    return { why: `there is no directory "${directory}"`, help: `create it first: mkdir -p "${directory}"` };
  }
  return isWritable(directory) ? null : { why: `nothing may be written into "${directory}"`, help: null };
}

function isWritable(directory: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
