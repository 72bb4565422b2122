import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import type { Source } from '../../language/diagnostic.ts';
import { parseReporters } from '../reporters/reporter-list.ts';
import { besidePattern, type WatchPattern, watchPattern } from './glob.ts';
import type { WatchTargets } from './scan.ts';

/** What a workflow was read from, as far as it could be read. */
export type ReadFiles = { readonly sources: readonly Source[]; readonly valid: boolean };

/** What is watched for a workflow: the files it was read from and what `--watch-path` names. */
export function watchTargets(
  { sources, valid }: ReadFiles,
  { paths, config }: { readonly paths: readonly string[]; readonly config: Config },
): WatchTargets {
  const files = sources.map(({ path }) => path).filter((path) => path !== '-');
  const named = paths.map((path) => watchPattern(path, config.cwd));
  return { files, patterns: [...named, ...(valid ? [] : missingImports(files))], ignored: writtenByRuns(config) };
}

/** What a file that is not valid imports may still have to be written. */
function missingImports(files: readonly string[]): readonly WatchPattern[] {
  return files.map((file) => besidePattern(file, ['.yaml', '.yml']));
}

/** What every run writes by itself is no reason for another one: its record with its logs, and its reports. */
function writtenByRuns({ runsDir, settings, cwd }: Config): ReadonlySet<string> {
  const reports = parseReporters(settings.read('reporter').value).files.map(({ path }) => resolve(cwd, path));
  return new Set([...(runsDir === null ? [] : [runsDir]), ...reports]);
}
