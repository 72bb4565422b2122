import { closeSync, constants, fchmodSync, fstatSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { views } from '#render/views.ts';
import {
  type Artifact,
  archiveOf,
  artifactsOf,
  bytesOfArtifact,
  matchArtifacts,
  openArtifact,
  type PastRun,
  requireSafeNames,
} from '#service/history.ts';
import { errorCode, WfError } from '#system/errors.ts';
import { makeDirectoriesBelow, readOpen } from '#system/trees/copy-file.ts';
import { type AccessOptions, reachOf, requireLocal } from '../../access/open-service.ts';
import { configFor } from '../../reference.ts';
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
  const run = await findRun(options, options.run ?? '@latest', console);
  const artifacts = artifactsOf(run, first ?? null);
  const { out, outTerminal } = console;
  if (options.json) out.write(`${JSON.stringify(artifacts, null, 2)}\n`);
  else out.write((await views.artifacts()).renderArtifacts(artifacts, outTerminal));
}

async function getArtifacts(
  options: ArtifactsOptions,
  { word = '@latest', globs }: { readonly word: string | undefined; readonly globs: readonly string[] },
  console: Console,
): Promise<void> {
  if (options.json) throw new WfError('usage', '--json is for the list: wf artifacts RUN --json');
  const run = await findRun(options, word, console);
  const chosen = choose(artifactsOf(run, null), globs);
  requireSafeNames(chosen);
  if (options.to === '-') return print(run, chosen, console.out);
  for (const artifact of chosen) {
    const to = options.to ?? '.';
    await writeArtifact({ to, name: artifact.name }, openArtifact(run, artifact), options.force === true);
    console.out.write(`${join(to, artifact.name)}\n`);
  }
}

async function findRun(options: ArtifactsOptions, word: string, { err }: Console): Promise<PastRun> {
  const app = await import('#app/history-app.ts');
  const config = configFor(options);
  requireLocal(options, config, 'artifacts', 'the page of the daemon shows its runs');
  const { history } = app.createPast(config, { reach: reachOf(options, config, { err }) });
  return history.find(word);
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
async function print(run: PastRun, artifacts: readonly Artifact[], out: Output): Promise<void> {
  const [first, ...others] = artifacts;
  if (first === undefined) return;
  for await (const chunk of others.length === 0 ? bytesOfArtifact(run, first) : archiveOf(run, artifacts)) {
    out.write(chunk);
    if (out.isBehind()) await out.drained();
    if (out.isClosed()) return;
  }
}

/** Writes a file below a directory, never through a link there. Closes `source`. */
async function writeArtifact(
  { to, name }: { readonly to: string; readonly name: string },
  source: number,
  force: boolean,
): Promise<void> {
  const path = join(to, name);
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW, O_TRUNC } = constants;
  const isExecutable = (fstatSync(source).mode & 0o100) !== 0;
  let fd: number | null = null;
  try {
    makeDirectoriesBelow(to, name.split('/').slice(0, -1));
    fd = openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW | (force ? O_TRUNC : O_EXCL), 0o666);
    if (isExecutable) fchmodSync(fd, fstatSync(fd).mode | 0o111);
    for await (const chunk of readOpen(source)) {
      for (let written = 0; written < chunk.length; ) written += writeSync(fd, chunk, written);
    }
  } catch (error) {
    if (fd === null) closeSync(source);
    if (errorCode(error) !== 'EEXIST') throw unwritable(path, error);
    throw new WfError('usage', `"${path}" exists`, { help: '--force overwrites it, --to DIR names another directory' });
  } finally {
    if (fd !== null) closeSync(fd);
  }
}
