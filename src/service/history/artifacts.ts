import { closeSync, fstatSync, readFileSync } from 'node:fs';
import { firstItems } from '#core/data/collections.ts';
import { isNamed, namedStep, splitInstanceName } from '#core/fan-out/instance-name.ts';
import type { KeptFile } from '#core/run/run.ts';
import { instancesOf, type RunState } from '#core/run/run-state.ts';
import { expandText } from '#core/words/interpolate.ts';
import type { Attach, Attached, Notice } from '#engine/engine.ts';
import { WfError } from '#system/errors.ts';
import { watchPattern } from '#system/glob.ts';
import { readOpen } from '#system/trees/copy-file.ts';
import type { PastRun } from './past-run.ts';
import { noSuchStep } from './run-reference.ts';

/** A kept file of a run. */
export type Artifact = KeptFile & {
  /** The step, handler or instance. */
  readonly step: string;
  readonly attempt: number;
  /** The path among all artifacts of the run: `build/dist/app.js`, of an instance `ship/web1/app.log`. */
  readonly name: string;
  /** The files of the run have been removed. */
  readonly removed?: true;
};

/** The artifacts of a past run. `step` and errors: as for `listArtifacts`. */
export function artifactsOf({ state, stored }: PastRun, step: string | null): readonly Artifact[] {
  const listed = listArtifacts(state, step);
  if (listed.length === 0 || stored === null || stored.artifacts.exist()) return listed;
  return listed.map((artifact) => ({ ...artifact, removed: true }));
}

/**
 * The artifacts of a run, in the order of its steps and paths. `step`: only those of a step, or of one instance; null: all.
 * Throws a `WfError` `not-found` for an unknown step.
 */
function listArtifacts(run: RunState, step: string | null): readonly Artifact[] {
  if (step !== null && namedStep(run, step) === null) throw noSuchStep(step, run.graph);
  const isMeant = isNamed(run, step);
  return [...firstItems(run.nodes, run.nodes.length)]
    .flatMap((state) => (state.item === undefined ? [state, ...instancesOf(run, state)] : []))
    .filter(({ name }) => isMeant(name))
    .flatMap(({ name, artifacts }) => {
      if (artifacts === undefined) return [];
      const { files, attempt } = artifacts;
      return Array.from(firstItems(files, files.length), (file) => ({
        step: name,
        attempt,
        name: `${folderOf(name)}/${file.path}`,
        ...file,
      }));
    });
}

/** The artifacts whose names match each pattern: `STEP/PATH`, with wildcards; a directory means everything below it. */
export function matchArtifacts<Glob extends string>(
  all: readonly Artifact[],
  globs: readonly Glob[],
): readonly { readonly glob: Glob; readonly found: readonly Artifact[] }[] {
  return globs.map((glob) => {
    // A pattern is matched as a path below a directory.
    const { matches } = watchPattern(glob, '/_');
    return { glob, found: all.filter(({ name }) => name === glob || matches(`/_/${name}`)) };
  });
}

/** Mail servers mostly accept 10 to 25 MB, and the encoding adds a third. */
const MAX_ATTACHED_BYTES = 10 * 2 ** 20;

/** Reads the artifacts that a notice sends, in the order of the list, as far as they fit. */
export const attachArtifacts: Attach = ({ state, artifacts, scope }, patterns, maxFiles) => {
  const globs = patterns.map((pattern) => expandText(pattern, scope));
  const all = artifacts === undefined ? [] : listArtifacts(state, null);
  const chosen = new Set(matchArtifacts(all, globs).flatMap(({ found }) => found));
  const baseOf = ({ path }: Artifact) => path.slice(path.lastIndexOf('/') + 1);
  const meant = all.filter((artifact) => chosen.has(artifact));
  const bases = meant.map(baseOf);
  const files: Attached['files'][number][] = [];
  const leftOut: string[] = [];
  let left = MAX_ATTACHED_BYTES;
  for (const artifact of meant) {
    const content =
      files.length >= maxFiles
        ? `a message has at most ${maxFiles} files`
        : artifact.bytes > left
          ? 'a message has at most 10 MiB of artifacts'
          : contentOf(artifact, artifacts);
    if (typeof content === 'string') {
      leftOut.push(`the artifact "${artifact.name}" is not attached: ${content}`);
      continue;
    }
    left -= content.length;
    const base = baseOf(artifact);
    const isUnique = bases.indexOf(base) === bases.lastIndexOf(base);
    files.push({ name: isUnique ? base : artifact.name.replaceAll('/', '-'), content });
  }
  return { files, leftOut };
};

/** The bytes of a kept file, or why there are none. */
function contentOf({ step, path, bytes }: Artifact, artifacts: Notice['artifacts']): Buffer | string {
  const fd = artifacts?.open(step, path) ?? null;
  if (fd === null) return 'it is gone';
  try {
    const content = readFileSync(fd);
    return content.length === bytes ? content : 'it is damaged';
  } finally {
    closeSync(fd);
  }
}

function folderOf(step: string): string {
  const instance = splitInstanceName(step);
  return instance === null ? step : `${instance.step}/${instance.key}`;
}

/**
 * Opens a kept file, which must be as long as its event says; the caller closes it. Throws a `WfError` `storage`, and `not-found` if
 * the files of the run have been removed.
 */
export function openArtifact(
  { stored, runId }: Pick<PastRun, 'stored' | 'runId'>,
  { step, path, name, bytes, removed }: Artifact,
): number {
  if (removed) throw new WfError('not-found', `the artifacts of run ${runId} have been removed`);
  const fd = stored?.artifacts.open(step, path) ?? null;
  if (fd !== null && fstatSync(fd).size === bytes) return fd;
  if (fd !== null) closeSync(fd);
  throw new WfError('storage', `the artifact "${name}" of run ${runId} is ${fd === null ? 'gone' : 'damaged'}`);
}

/** The files that the steps of a run have kept. */
export type RunArtifacts = {
  readonly runId: string;
  /** Those of a step or instance; null: all. Throws `not-found` for an unknown step. */
  readonly list: (step: string | null) => Promise<readonly Artifact[]>;
  /** Opens one that the list has. Throws `not-found` if it has been removed, `storage` if it is gone or damaged. */
  readonly open: (artifact: Artifact) => Promise<OpenArtifact>;
};

/** An open file. `bytes`: in chunks that are valid until the next one; throws `storage` if they are not those that were kept. */
export type OpenArtifact = {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** A daemon does not tell. */
  readonly isExecutable: boolean;
  /** If its bytes are not read. */
  readonly close: () => void;
};

/** The artifacts of a past run, as a service offers them. */
export function storedArtifacts(run: PastRun): RunArtifacts {
  return {
    runId: run.runId,
    list: async (step) => artifactsOf(run, step),
    open: async (artifact) => {
      const fd = openArtifact(run, artifact);
      const isExecutable = (fstatSync(fd).mode & 0o100) !== 0;
      return { bytes: readOpen(fd), isExecutable, close: () => closeSync(fd) };
    },
  };
}

/** The bytes of a kept file, by default all, in chunks that are valid until the next one. Throws like `openArtifact`. */
export function bytesOfArtifact(
  run: Pick<PastRun, 'stored' | 'runId'>,
  artifact: Artifact,
  range: { readonly from?: number; readonly to?: number } = {},
): AsyncGenerator<Buffer, void> {
  return readOpen(openArtifact(run, artifact), range);
}

/** The bytes of a tar archive of kept files, in chunks that are valid until the next one. Throws like `openArtifact`. */
export async function* archiveOf(
  { open }: Pick<RunArtifacts, 'open'>,
  artifacts: readonly Artifact[],
): AsyncGenerator<Uint8Array, void> {
  for (const artifact of artifacts) {
    const { bytes } = await open(artifact);
    yield tarHeader(artifact.name, artifact.bytes);
    yield* bytes;
    yield tarPadding(artifact.bytes);
  }
  yield TAR_END;
}

/** Whether a name can be a path below any directory: its parts are ordinary, so that it cannot lead out of it. */
export function isSafeName(name: string): boolean {
  return !/\p{Cc}/u.test(name) && name.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}

/** Throws a `WfError` `usage` if a name could lead out of the directory to which it is written. */
export function requireSafeNames(artifacts: readonly Artifact[]): void {
  const unsafe = artifacts.find(({ name }) => !isSafeName(name));
  if (unsafe === undefined) return;
  throw new WfError('usage', `the artifact ${JSON.stringify(unsafe.name)} has no name for a file`, {
    help: 'Name the other artifacts by patterns.',
  });
}

const BLOCK_BYTES = 512;
/** The largest size in the octal field of a header. */
const MAX_OCTAL_BYTES = 8 ** 11;

/** The header of a file in a tar archive (POSIX pax): mode 0644, without a time. */
function tarHeader(name: string, bytes: number): Buffer {
  const isPlain = /^[\x20-\x7e]{1,100}$/.test(name) && bytes < MAX_OCTAL_BYTES;
  if (isPlain) return header(name, bytes, '0');
  const records = Buffer.from(paxRecord('path', name) + paxRecord('size', String(bytes)));
  const short = name.replace(/[^\x20-\x7e]/g, '_').slice(-100);
  const padded = Buffer.concat([records, tarPadding(records.length)]);
  return Buffer.concat([
    header('pax', records.length, 'x'),
    padded,
    header(short, Math.min(bytes, MAX_OCTAL_BYTES - 1), '0'),
  ]);
}

/** The bytes between a file of that size and the next header. */
function tarPadding(bytes: number): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES);
}

/** The end of a tar archive. */
const TAR_END = Buffer.alloc(2 * BLOCK_BYTES);

/** A record names its own length. */
function paxRecord(key: string, value: string): string {
  const rest = Buffer.byteLength(` ${key}=${value}\n`);
  let length = rest;
  while (length !== rest + String(length).length) length = rest + String(length).length;
  return `${length} ${key}=${value}\n`;
}

function header(name: string, bytes: number, type: '0' | 'x'): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  const octal = (value: number, at: number, length: number) =>
    block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  block.write(name, 0, 100, 'latin1');
  octal(0o644, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(bytes, 124, 12);
  octal(0, 136, 12);
  block.write('        ', 148, 'latin1');
  block.write(`${type}`, 156, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}
