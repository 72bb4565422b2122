import { chmodSync, fstatSync, mkdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import type { KeptFile, Outcome } from '#core/run/run.ts';
import { expandText } from '#core/words/interpolate.ts';
import { type ArtifactRule, MAX_ARTIFACT_BYTES, MAX_ARTIFACTS } from '#core/workflow.ts';
import { errorCode, systemProblem, tryOr } from '#system/errors.ts';
import { removeDirectory } from '#system/files.ts';
import { FileCopier } from '#system/trees/copy-file.ts';
import { OpenDirectory } from '#system/trees/open-directory.ts';
import { type FilePattern, filePattern, MAX_DEPTH, type Unopened, walkFiles } from '#system/trees/walk-files.ts';
import { type AttemptContext, countArtifacts, type StepScope } from './attempt-context.ts';
import { afterEnd } from './attempt-results.ts';

/** An outcome, and the files that the attempt keeps. */
type Kept = { readonly outcome: Outcome; readonly kept: readonly KeptFile[] };

type Reason = Unopened | 'size' | 'count' | 'taken' | 'long' | 'secret';

const MAX_SHOWN = 3;
const MAX_NAME_BYTES = 255;
/** The part of a file in which secrets are searched for. */
const SEARCHED_BYTES = 2 ** 20;

/** A rule that applies to the end of the attempt. `lost`: matches that are not kept. */
type Applied = FilePattern & { readonly rule: ArtifactRule; readonly path: string; kept: number; lost: number };

/**
 * Keeps the artifacts of an attempt that has ended, in the place of those of earlier attempts at the step. A required file that
 * is missing, and a disk that refuses one, fail an attempt that has succeeded.
 */
export async function keepArtifacts(context: AttemptContext, outcome: Outcome, own: StepScope): Promise<Kept> {
  const { step, kill, warn } = context;
  if (outcome.status === 'skipped') return { outcome, kept: [] };
  const rules = (step.artifacts ?? []).filter(
    ({ when }) => when === 'always' || (when === 'success') === (outcome.status === 'succeeded'),
  );
  const collection = new Collection(context, applied(rules, own));
  try {
    const kept = await collection.collect(own.cwd);
    if (kill.aborted) return { outcome: afterEnd(outcome, context), kept: [] };
    for (const warning of collection.warnings(outcome.status === 'succeeded')) warn(warning);
    const problem = outcome.status === 'succeeded' ? collection.problem() : null;
    return { outcome: withProblem(outcome, problem), kept };
  } catch (error) {
    const problem = systemProblem(error);
    if (problem === null) throw error;
    collection.forget();
    const message = `the artifacts cannot be kept: ${problem.message}`;
    if (outcome.status !== 'succeeded') warn(message);
    return { outcome: withProblem(outcome, message), kept: [] };
  } finally {
    collection.close();
  }
}

function withProblem(outcome: Outcome, problem: string | null): Outcome {
  if (problem === null || outcome.status !== 'succeeded') return outcome;
  const { exitCode, outputs } = outcome;
  return { status: 'failed', reason: 'error', message: problem, exitCode, signal: null, outputs };
}

/** Throws a `PathProblem` as other texts of a step do. */
function applied(rules: readonly ArtifactRule[], { scope }: StepScope): readonly Applied[] {
  return rules.map((rule) => {
    const path = expandText(rule.path, scope);
    const isInside = isBelow(path);
    const pattern = isInside ? filePattern(path) : { matches: () => false, mayContain: () => false };
    return { rule, path, kept: 0, lost: 0, ...pattern };
  });
}

/** Whether a relative path stays in its directory. */
export function isBelow(path: string): boolean {
  return path !== '' && !path.startsWith('/') && posix.normalize(path).split('/')[0] !== '..';
}

/** Searches the beginning of a file, given in chunks, for the secrets of a run. */
export function searchSecrets({ shared }: AttemptContext['secrets']): {
  readonly read: (chunk: Buffer) => void;
  readonly isFound: () => boolean;
} {
  const head: Buffer[] = [];
  let left = shared.isEmpty ? 0 : SEARCHED_BYTES;
  return {
    read: (chunk) => {
      if (left > 0) head.push(Buffer.from(chunk.subarray(0, left)));
      left -= chunk.length;
    },
    isFound: () => {
      const text = Buffer.concat(head).toString();
      return shared.mask(text) !== text;
    },
  };
}

class Collection {
  readonly #context: AttemptContext;
  readonly #rules: readonly Applied[];
  readonly #staged: string | null;
  readonly #copier = new FileCopier();
  readonly #kept: KeptFile[] = [];
  /** The paths of the kept files, and of the directories above them. */
  readonly #files = new Set<string>();
  readonly #directories = new Set<string>(['.']);
  readonly #leftOut = new Map<Reason, string[]>();
  readonly #secret: string[] = [];

  constructor(context: AttemptContext, rules: readonly Applied[]) {
    this.#context = context;
    this.#rules = rules;
    this.#staged = context.files.artifacts?.stage() ?? null;
    this.#release();
  }

  /** Returns the kept files; none if the attempt is killed meanwhile. Throws system errors. */
  async collect(cwd: string): Promise<readonly KeptFile[]> {
    const { step, kill, files, artifactsDir } = this.#context;
    if (this.#rules.length > 0) await this.#walk(cwd, this.#rules, (path, fd) => this.#match(path, fd));
    if (artifactsDir !== null) await this.#walk(artifactsDir, [filePattern('.')], (path, fd) => this.#take(path, fd));
    if (kill.aborted) this.#release();
    files.artifacts?.replace(step.name, kill.aborted ? null : this.#staged);
    return kill.aborted ? [] : this.#kept;
  }

  /** Removes the files of the attempt before, if those of this one cannot be kept. */
  forget(): void {
    this.#release();
    tryOr(null, () => this.#context.files.artifacts?.replace(this.#context.step.name, null));
  }

  /** Why an attempt that succeeded has failed; null if it has not. */
  problem(): string | null {
    for (const { rule, path, kept, lost } of this.#rules) {
      if (rule.required !== true) continue;
      if (kept + lost === 0) return `no file matches the required "${path}" of "artifacts"`;
      if (lost > 0) return `${lost === 1 ? '1 file' : `${lost} files`} of the required "${path}" cannot be kept`;
    }
    return null;
  }

  warnings(hasSucceeded: boolean): readonly string[] {
    const unmatched = this.#rules.filter(({ rule, kept, lost }) => kept + lost === 0 && rule.required !== true);
    return [
      ...(hasSucceeded ? unmatched.map(({ path }) => `no file matches "${path}" of "artifacts"`) : []),
      ...Array.from(
        this.#leftOut,
        ([reason, paths]) => `${list(paths)} left out of the artifacts: ${this.#text(reason)}`,
      ),
      ...(this.#secret.length === 0
        ? []
        : [`${list(this.#secret)} among the artifacts: it contains a secret of the run`]),
    ];
  }

  close(): void {
    const { artifactsDir } = this.#context;
    for (const directory of [this.#staged, artifactsDir]) if (directory !== null) removeDirectory(directory);
  }

  async #walk(path: string, patterns: readonly FilePattern[], file: (path: string, fd: number) => Promise<unknown>) {
    const root = OpenDirectory.openIfThere(path);
    if (root === null) return;
    const unopened = (found: string, why: Unopened) => this.#lose(found, why);
    try {
      await walkFiles(root, patterns, {
        file: async (...found) => void (await file(...found)),
        unopened,
        signal: this.#context.kill,
      });
    } finally {
      root.close();
    }
  }

  /** Keeps a file once for each folder of the rules that it matches. */
  async #match(path: string, fd: number): Promise<void> {
    const results = new Map<string, boolean>();
    for (const applied of this.#rules) {
      if (!applied.matches(path)) continue;
      const target = applied.rule.name === undefined ? path : `${applied.rule.name}/${path}`;
      const isKept = results.get(target) ?? (await this.#take(target, fd));
      results.set(target, isKept);
      applied[isKept ? 'kept' : 'lost'] += 1;
    }
  }

  async #take(path: string, fd: number): Promise<boolean> {
    const { totals, kill, secrets } = this.#context;
    const { size } = fstatSync(fd);
    const reason = this.#obstacle(path, size);
    if (reason !== null) return this.#note(path, reason);
    if (this.#staged === null) return true;
    const target = join(this.#staged, path);
    const { read, isFound } = searchSecrets(secrets);
    this.#makeDirectory(posix.dirname(path));
    const copied = await this.#copier.copy(fd, target, { read, signal: kill }).catch((error: unknown) => {
      if (errorCode(error) === 'ENAMETOOLONG') return 'long' as const;
      throw error;
    });
    if (copied === 'long') return this.#note(path, 'long');
    if (copied === null) return false;
    if (isFound()) this.#secret.push(path);
    this.#files.add(path);
    this.#kept.push({ path, ...copied });
    countArtifacts(totals, this.#context.step.name, [copied]);
    return true;
  }

  /** Why a file cannot be kept; null if it can. */
  #obstacle(path: string, size: number): Reason | null {
    const { totals, workflow, secrets } = this.#context;
    const parts = path.split('/');
    const folders = parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join('/'));
    if (this.#files.has(path) || this.#directories.has(path) || folders.some((each) => this.#files.has(each)))
      return 'taken';
    if (parts.length > MAX_DEPTH) return 'depth';
    if (parts.some((part) => Buffer.byteLength(part) > MAX_NAME_BYTES)) return 'long';
    if (secrets.shared.mask(path) !== path) return 'secret';
    if (totals.files >= MAX_ARTIFACTS) return 'count';
    return totals.bytes + size > (workflow.maxArtifactBytes ?? MAX_ARTIFACT_BYTES) ? 'size' : null;
  }

  #makeDirectory(path: string): void {
    if (this.#staged === null || this.#directories.has(path)) return;
    this.#makeDirectory(posix.dirname(path));
    const directory = join(this.#staged, path);
    mkdirSync(directory, 0o700);
    // The umask belongs to the steps.
    chmodSync(directory, 0o700);
    this.#directories.add(path);
  }

  #lose(path: string, why: Unopened): void {
    for (const applied of this.#rules) if (applied.matches(path)) applied.lost += 1;
    this.#note(path, why);
  }

  #note(path: string, reason: Reason): false {
    const paths = this.#leftOut.get(reason) ?? [];
    this.#leftOut.set(reason, [...paths, path]);
    return false;
  }

  /** Forgets the files that the step has kept so far. */
  #release(): void {
    const { totals, step } = this.#context;
    const { files, bytes } = totals.bySteps.get(step.name) ?? { files: 0, bytes: 0 };
    totals.files -= files;
    totals.bytes -= bytes;
    totals.bySteps.delete(step.name);
  }

  #text(reason: Reason): string {
    switch (reason) {
      case 'link':
        return 'a link leads out of the directory, or to a directory';
      case 'special':
        return 'not a regular file';
      case 'name':
        return 'the name has control characters, or is not UTF-8';
      case 'depth':
        return `more than ${MAX_DEPTH} names in the path`;
      case 'unreadable':
        return 'permission denied';
      case 'size':
        return `the run keeps at most ${(this.#context.workflow.maxArtifactBytes ?? MAX_ARTIFACT_BYTES) / 2 ** 20} MiB ("maxMiB")`;
      case 'count':
        return `the run keeps at most ${MAX_ARTIFACTS} files`;
      case 'taken':
        return 'another file has the path';
      case 'long':
        return 'the path is too long';
      case 'secret':
        return 'the path contains a secret of the run';
    }
  }
}

function list(paths: readonly string[]): string {
  const shown = paths.slice(0, MAX_SHOWN).map((path) => JSON.stringify(path));
  const more = paths.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
