import { createHmac } from 'node:crypto';
import { posix } from 'node:path';
import { type Fingerprint, type FingerprintEntry, type StaleReason, sortEntries } from '#core/fingerprint.ts';
import { expandText } from '#core/words/interpolate.ts';
import { PathProblem } from '#core/words/json-path.ts';
import { MAX_HASHED_BYTES, MAX_SOURCES, type Step, type UpToDateRule, type Workflow } from '#core/workflow.ts';
import {
  FileHasher,
  type Found,
  findFiles,
  type HashCache,
  selectionOf,
  stampOf,
  TreeProblem,
} from '#system/trees/hash-files.ts';
import { type Environment, EvaluationProblem } from './environment.ts';

/** A step with `sources`, evaluated for a run or a plan. */
export type Inspected = {
  readonly workflow: Pick<Workflow, 'shell' | 'params'>;
  readonly step: Step;
  readonly rule: UpToDateRule;
  readonly scope: (name: string) => string | undefined;
  readonly env: Environment;
  /** The positional parameters. */
  readonly args: readonly string[];
  /** The absolute directory of the step. */
  readonly cwd: string;
  /** The key of the hashes of values, so that a secret cannot be guessed from its hash. */
  readonly key: Buffer;
  readonly hashes: HashCache;
  readonly now: () => number;
  readonly signal?: { readonly aborted: boolean };
};

/** What a look at the inputs and the generated files of a step found. */
export type Inspection = {
  readonly entries: Fingerprint;
  /** Changes whenever a source may have been written; empty where the entries tell it. */
  readonly stamps: readonly string[];
  /** Why it has to run whatever its inputs were: a pattern without a generated file, or a source that is newer. */
  readonly reasons: readonly StaleReason[];
};

/**
 * Looks at the inputs of a step. The order of the sources, their times, absolute paths, the variables of `wf` itself and those that
 * the step does not mention do not count. Throws an `EvaluationProblem`, or a `PathProblem` as other texts of the step do.
 */
export async function inspectInputs(inspected: Inspected): Promise<Inspection> {
  const { rule, scope } = inspected;
  const expand = (pattern: string) => patternIn(expandText(pattern, scope));
  const sources = rule.sources.map(expand);
  const generates = rule.generates.map(expand);
  const restored = (rule.cache?.paths ?? []).map(expand);
  try {
    const found = await sourceFiles(inspected, sources, [...generates, ...restored]);
    const generated = await generatedFiles(inspected, generates);
    const missing = generates.filter((pattern) => !generated.patterns.has(pattern));
    const own = [...keyEntries(inspected), ...variableEntries(inspected)];
    const isTimed = rule.method === 'timestamp';
    const hashed = isTimed
      ? found.map(({ path }): FingerprintEntry => ['source', path, ''])
      : await hashAll(inspected, found);
    const newer = isTimed && missing.length === 0 ? found.filter(({ stats }) => stats.mtimeNs > generated.oldest) : [];
    return {
      entries: sortEntries([...own, ...hashed]),
      stamps: isTimed ? found.map(({ path, stats }) => `${path} ${stampOf(stats)}`).toSorted() : [],
      reasons: [
        ...missing.map((name): StaleReason => ({ kind: 'output', name })),
        ...newer.map(({ path }): StaleReason => ({ kind: 'source', name: path })),
      ],
    };
  } catch (error) {
    if (error instanceof TreeProblem) throw new EvaluationProblem(`"sources": ${error.message}`);
    throw error;
  }
}

/** The patterns of the files that a success keeps, evaluated. Throws as `inspectInputs` does. */
export function cachedPatterns({ generates, cache }: UpToDateRule, scope: Inspected['scope']): readonly string[] {
  return (cache?.paths ?? generates).map((pattern) => patternIn(expandText(pattern, scope)));
}

/** A pattern with variables was not checked with the file. */
function patternIn(text: string): string {
  const path = text.replace(/^!/, '');
  const isInside = path !== '' && !path.startsWith('/') && posix.normalize(path).split('/')[0] !== '..';
  if (isInside) return text;
  throw new EvaluationProblem(`"${text}" is not below the directory of the step`);
}

/** The sources in the order of the walk. Generated files are none, even if a pattern of the sources matches them. */
async function sourceFiles(
  { cwd, signal }: Inspected,
  sources: readonly string[],
  generates: readonly string[],
): Promise<readonly Found[]> {
  const selection = selectionOf([...sources, ...generates.map((pattern) => `!${pattern}`)]);
  const found: Found[] = [];
  const unmatched = new Set(selection.wanted);
  await findFiles(
    cwd,
    selection,
    (file) => {
      found.push(file);
      for (const pattern of unmatched) if (pattern.matches(file.path)) unmatched.delete(pattern);
      return found.length <= MAX_SOURCES;
    },
    signal,
  );
  if (found.length > MAX_SOURCES) throw new EvaluationProblem(`more than ${MAX_SOURCES} files match "sources"`);
  const [first] = unmatched;
  if (first === undefined || signal?.aborted === true) return found;
  const pattern = sources.filter((text) => !text.startsWith('!'))[selection.wanted.indexOf(first)];
  throw new EvaluationProblem(`no file matches "${pattern}" of "sources"`);
}

/** The patterns that have a file, and the time of the oldest one. */
async function generatedFiles(
  { cwd, rule, signal }: Inspected,
  generates: readonly string[],
): Promise<{ readonly patterns: ReadonlySet<string>; readonly oldest: bigint }> {
  const open = new Map(generates.map((text) => [text, selectionOf([text])] as const));
  const patterns = new Set<string>();
  let oldest: bigint | null = null;
  if (generates.length > 0) {
    await findFiles(
      cwd,
      selectionOf(generates),
      ({ path, stats }) => {
        for (const [text, { wanted }] of open) if (wanted.some((pattern) => pattern.matches(path))) patterns.add(text);
        if (oldest === null || stats.mtimeNs < oldest) oldest = stats.mtimeNs;
        // Their times do not count.
        return rule.method === 'timestamp' || patterns.size < open.size;
      },
      signal,
    );
  }
  return { patterns, oldest: oldest ?? 0n };
}

async function hashAll(
  { cwd, hashes, now, signal }: Inspected,
  found: readonly Found[],
): Promise<readonly FingerprintEntry[]> {
  const hasher = new FileHasher(hashes, { now, maxBytes: MAX_HASHED_BYTES });
  const entries: FingerprintEntry[] = [];
  for (const file of found) {
    if (signal?.aborted === true) return entries;
    const hash = await hasher.hash(cwd, file);
    if (hash !== null) entries.push(['source', file.path, hash]);
  }
  return entries;
}

/** The keys of a step that decide what it does, as written. */
function keyEntries({ step, rule, workflow, key }: Inspected): readonly FingerprintEntry[] {
  const { command, args, script, executor, dir, stdout, stderr, output, published } = step;
  const keys = {
    command,
    ...(args.length === 0 ? {} : { args }),
    script,
    ...(executor.type === 'command' && Object.keys(executor.config).length === 0 ? {} : { executor }),
    shell: step.shell ?? workflow.shell,
    dir,
    stdout,
    stderr,
    output: published ?? output,
    generates: rule.generates,
    cache: rule.cache === undefined ? null : { key: rule.cache.key, paths: rule.cache.paths },
  };
  return Object.entries(keys).flatMap(([name, value]): FingerprintEntry[] =>
    value === null ? [] : [['command', name, hashOf(key, JSON.stringify(value))]],
  );
}

/** Variables that `wf` sets differ in every run; the directory of the step is an absolute path. */
const OWN_VARIABLE = /^(?:(?:WF|DAG|DAGU)_|PWD$|OLDPWD$)/;

/** `$NAME`, `${NAME}`, `${NAME.path[0]}`, `$1` and `$@`, in any quotes: a name too many costs a run, one too few a change. */
const MENTION = /\$(?:\{#?)?([A-Za-z_]\w*|\d+|[@*#])((?:\.[\w-]+|\[[^\]\s]*\])*)/g;

/** The variables that the texts of the step mention, and those of its own `env`. */
function variableEntries({ step, rule, scope, env, args, key }: Inspected): readonly FingerprintEntry[] {
  const { command, args: words, script, executor, dir, stdout, stderr, published, env: own } = step;
  const texts = JSON.stringify([command, words, script, executor.config, dir, stdout, stderr, published, rule, own]);
  const values = new Map<string, string>();
  for (const { name } of own) values.set(name, env[name] ?? '');
  for (const [, name = '', path = ''] of texts.matchAll(MENTION)) {
    if (OWN_VARIABLE.test(name)) continue;
    if (/^[@*#]$/.test(name)) values.set('@', args.join('\0'));
    else if (path === '') values.set(name, textOf(scope(name)));
    // In a script, the path may be text after a variable.
    else values.set(`${name}${path}`, `${textOf(scope(name))} ${partOf(name, path, scope)}`);
  }
  return Array.from(values, ([name, value]) => ['variable', name, hashOf(key, value)]);
}

function textOf(value: string | undefined): string {
  return value === undefined ? 'unset' : `=${value}`;
}

function partOf(name: string, path: string, scope: Inspected['scope']): string {
  try {
    return expandText(`\${${name}${path}}`, scope);
  } catch (error) {
    if (error instanceof PathProblem) return '';
    throw error;
  }
}

function hashOf(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}
