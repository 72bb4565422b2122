import { closeSync, constants, fchmodSync, fstatSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { views } from '#render/views.ts';
import {
  type Artifact,
  archiveOf,
  matchArtifacts,
  type OpenArtifact,
  type RunArtifacts,
  requireSafeNames,
} from '#service/history.ts';
import { errorCode, WfError } from '#system/errors.ts';
import { removeFile } from '#system/files.ts';
import { makeDirectoriesBelow } from '#system/trees/copy-file.ts';
import { type AccessOptions, withService } from '../../access/open-service.ts';
import type { Console, Output } from '../../terminal/console.ts';
import { unwritable } from '../../terminal/write-file.ts';

/** The options of `wf artifacts`; `run` is null for the last run of all. */
type ArtifactsOptions = AccessOptions & {
  readonly run: string | null;
  /** A step, after `get` the run and patterns. */
  readonly names: readonly string[];
  /** After `get`: a directory, or `-`. */
  readonly to?: string;
  readonly force?: true;
};

/** Lists the artifacts of a run, or writes them into a directory or to standard output. */
export async function artifactsCommand(options: ArtifactsOptions, console: Console): Promise<void> {
  const isGet = options.run === 'get';
  const [first, ...rest] = options.names;
  if (isGet) return getArtifacts(options, { word: first, globs: rest }, console);
  const misplaced = options.to !== undefined ? '--to' : options.force ? '--force' : null;
  if (misplaced !== null)
    throw new WfError('usage', `${misplaced} is for wf artifacts get`, { help: 'wf artifacts get @latest --to out' });
  if (rest.length > 0) throw new WfError('usage', 'wf artifacts takes a run and one step');
  return withService({ ...options, shows: options.run }, console, async ({ runs }) => {
    const { list } = await runs.artifacts(options.run ?? '@latest');
    const artifacts = await list(first ?? null);
    const { out, outTerminal } = console;
    if (options.json) out.write(`${JSON.stringify(artifacts, null, 2)}\n`);
    else out.write((await views.artifacts()).renderArtifacts(artifacts, outTerminal));
  });
}

async function getArtifacts(
  options: ArtifactsOptions,
  { word = '@latest', globs }: { readonly word: string | undefined; readonly globs: readonly string[] },
  console: Console,
): Promise<void> {
  if (options.json) throw new WfError('usage', '--json is for the list: wf artifacts RUN --json');
  return withService({ ...options, shows: word }, console, async ({ runs }) => {
    const run = await runs.artifacts(word);
    const chosen = choose(await run.list(null), globs);
    requireSafeNames(chosen);
    if (options.to === '-') return print(run, chosen, console.out);
    const to = options.to ?? '.';
    for (const artifact of chosen) {
      await writeArtifact({ to, name: artifact.name }, await run.open(artifact), options.force === true);
      console.out.write(`${join(to, artifact.name)}\n`);
    }
  });
}

/** The artifacts whose names match one of the patterns; without patterns all. */
function choose(all: readonly Artifact[], globs: readonly string[]): readonly Artifact[] {
  const help = 'wf artifacts RUN lists them';
  if (all.length === 0) throw new WfError('not-found', 'the run has kept no artifacts');
  const matched = matchArtifacts(all, globs);
  const missing = matched.find(({ found }) => found.length === 0);
  if (missing !== undefined) throw new WfError('not-found', `no artifact matches "${missing.glob}"`, { help });
  const meant = new Set(matched.flatMap(({ found }) => found));
  return globs.length === 0 ? all : all.filter((artifact) => meant.has(artifact));
}

/** Prints one file as it is, several as a tar archive. */
async function print(run: RunArtifacts, artifacts: readonly Artifact[], out: Output): Promise<void> {
  const [first, ...others] = artifacts;
  if (first === undefined) return;
  const bytes = others.length === 0 ? (await run.open(first)).bytes : archiveOf(run, artifacts);
  for await (const chunk of bytes) {
    out.write(chunk);
    if (out.isBehind()) await out.drained();
    if (out.isClosed()) return;
  }
}

/** Writes a file below a directory, never through a link there; removes it if its bytes do not arrive. Closes `source`. */
async function writeArtifact(
  { to, name }: { readonly to: string; readonly name: string },
  source: OpenArtifact,
  force: boolean,
): Promise<void> {
  const path = join(to, name);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_TRUNC } = constants;
  let fd: number | null = null;
  try {
    makeDirectoriesBelow(to, name.split('/').slice(0, -1));
    fd = openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW | (force ? O_TRUNC : O_EXCL), 0o666);
    if (source.isExecutable) fchmodSync(fd, fstatSync(fd).mode | 0o111);
    for await (const chunk of source.bytes) {
      for (let written = 0; written < chunk.length; ) written += writeSync(fd, chunk, written);
    }
  } catch (error) {
    if (fd === null) source.close();
    else removeFile(path);
    if (error instanceof WfError) throw error;
    if (errorCode(error) !== 'EEXIST') throw unwritable(path, error);
    throw new WfError('usage', `"${path}" exists`, { help: '--force overwrites it, --to DIR names another directory' });
  } finally {
    if (fd !== null) closeSync(fd);
  }
}
