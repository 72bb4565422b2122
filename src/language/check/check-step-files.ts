import { posix } from 'node:path';
import { given } from '#core/data/collections.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import { keepsArtifacts, keepsFiles } from '../build/build-step.ts';
import { type Path, type Problem, problem } from '../diagnostic.ts';
import {
  asList,
  entriesAt,
  executorType,
  type RawArtifact,
  secretNames,
  type TextOrList,
  variableName,
} from '../raw.ts';
import { type ActionEntry, actionEntries, type SpecFile, type StepEntry, spotIn } from '../read/spec-file.ts';
import { dependenciesOf } from './check-graph.ts';

/** Keys of steps without an attempt that has an end and a directory on this machine. */
const OTHERS = ['service', 'approval', 'container'] as const;

/** Checks `artifacts` of a step or handler. */
export function artifactProblems(entry: ActionEntry): Problem[] {
  const { file, path, raw, what } = entry;
  if (raw.artifacts === undefined) return [];
  const rules = entriesAt<RawArtifact>(raw.artifacts, [...path, 'artifacts']);
  const problems = rules.flatMap(({ path: at, entry: written }) => ruleProblems(entry, at, written));
  if (!keepsFiles(raw)) return problems;
  const spot = spotIn(file, [...path, 'artifacts'], 'key');
  const other = OTHERS.find((key) => raw[key] !== undefined && raw[key] !== false);
  if (other !== undefined) {
    const related = [{ spot: spotIn(file, [...path, other], 'key'), message: `"${other}" is given here` }];
    const help = 'Let another step keep the files, one with a command of this machine.';
    return [problem('conflicting-keys', spot, `${what} has both "${other}" and "artifacts"`, { related, help })];
  }
  if (isInContainer(entry)) {
    const help = 'Mount a directory of this machine, and let a step with a command keep its files.';
    return [problem('not-supported', spot, `${what}: "artifacts" of a step in a container are not kept`, { help })];
  }
  return [...problems, ...farProblems(entry, spot)];
}

/** Warns of a step on another machine, which leaves no files here but its output. */
function farProblems({ raw, what }: ActionEntry, spot: Problem['spot']): Problem[] {
  if (executorType(raw) !== 'ssh' || raw.stdout !== undefined || raw.stderr !== undefined) return [];
  const help = 'Let a step with a command of this machine fetch the files, for example with scp, and keep them.';
  const message = `${what}: "artifacts" are files of this machine, and "ssh" runs the command on another one`;
  return [problem('not-supported', spot, message, { severity: 'warning', help })];
}

/** Whether the step runs in the container of the workflow, or in one of its own. */
function isInContainer({ file, raw }: ActionEntry): boolean {
  const isInside = file.raw.container !== undefined && raw.executor === undefined && raw.run === undefined;
  return isInside || executorType(raw) === 'docker';
}

function ruleProblems({ file, what }: ActionEntry, at: Path, written: RawArtifact): Problem[] {
  const isText = typeof written === 'string';
  const rule = isText ? { path: written } : written;
  const { path, name, when, required, from, to } = rule;
  const wrong = (key: string, message: string, help: string) =>
    problem('wrong-value', spotIn(file, isText ? at : [...at, key]), `${what}: ${message}`, { help });
  if (from !== undefined) return placingProblems({ file, what }, at, rule);
  const problems: Problem[] = [];
  if (to !== undefined) {
    const help = 'Name the step whose files are placed there: {from: build, to: dist}.';
    problems.push(
      problem('missing-key', spotIn(file, [...at, 'to'], 'key'), `${what} has "to" but no "from"`, { help }),
    );
  } else if (path === undefined) {
    const help = 'Write the pattern of the files, path: dist/**, or the step of which files are placed, from: build.';
    problems.push(problem('missing-key', spotIn(file, at), `${what}: an entry of "artifacts" has no "path"`, { help }));
  }
  if (path !== undefined && path.trim() === '') {
    problems.push(wrong('path', 'a pattern of "artifacts" is empty', 'For example dist/**'));
  } else if (path !== undefined && leavesDirectory(path)) {
    const help = 'A pattern is relative to "dir" of the step. A program can put other files into $WF_ARTIFACTS_DIR.';
    problems.push(wrong('path', `"${path}" is not below the directory of the step`, help));
  }
  if (name !== undefined && !isFolderName(name)) {
    const help = 'A name is one folder, such as reports: at most 255 bytes, without "/", and not "." or "..".';
    problems.push(wrong('name', `${JSON.stringify(name)} is not the name of a folder`, help));
  }
  if (required === true && when === 'failure') {
    const help = 'An attempt that has failed cannot fail again. Remove "required", or write "when: always".';
    problems.push(wrong('required', '"required" has no effect with "when: failure"', help));
  }
  return problems;
}

/** Checks an entry of `artifacts` with `from`, but not the step that it names. */
function placingProblems(
  { file, what }: Pick<ActionEntry, 'file' | 'what'>,
  at: Path,
  rule: Exclude<RawArtifact, string>,
): Problem[] {
  const { to = '.' } = rule;
  const others = (['path', 'when', 'required', 'name'] as const).filter((key) => rule[key] !== undefined);
  const problems = others.map((key) => {
    const related = [{ spot: spotIn(file, [...at, 'from'], 'key'), message: '"from" is given here' }];
    const help = 'With "from", all files of that step are placed. Files to keep are an entry of their own.';
    const message = `${what}: an entry of "artifacts" has both "from" and "${key}"`;
    return problem('conflicting-keys', spotIn(file, [...at, key], 'key'), message, { related, help });
  });
  if (to.trim() !== '' && !leavesDirectory(to)) return problems;
  const message = to.trim() === '' ? '"to" is empty' : `"${to}" is not below the directory of the step`;
  const help = 'Files are placed below "dir" of the step, for example to: dist.';
  return [...problems, problem('wrong-value', spotIn(file, [...at, 'to']), `${what}: ${message}`, { help })];
}

/** Reports `from` in `artifacts` that names a step which keeps nothing, or is not certain to have ended. */
export function placedProblems(
  files: readonly SpecFile[],
  steps: readonly StepEntry[],
  isComplete: boolean,
): Problem[] {
  const users = files.flatMap(actionEntries).filter(({ raw }) => raw.artifacts !== undefined);
  if (users.length === 0 || !isComplete) return [];
  const before = dependenciesOf(steps);
  return users.flatMap(({ file, path, raw, what }) => {
    const user = steps.findIndex((step) => step.raw === raw);
    return entriesAt<RawArtifact>(raw.artifacts, [...path, 'artifacts']).flatMap(({ path: at, entry }) => {
      if (typeof entry === 'string' || entry.from === undefined) return [];
      const { from } = entry;
      const used = before.index.get(from);
      const spot = spotIn(file, [...at, 'from']);
      if (used === undefined || used === user) {
        const message = `${what} takes files from ${used === undefined ? `"${from}", which does not exist` : 'itself'}`;
        const label = used === undefined ? () => didYouMean(nearNames(from, before.index.keys())) : undefined;
        const help = 'Name an earlier step that keeps files.';
        return [problem('missing-dependency', spot, message, { ...given({ label }), help })];
      }
      if (user !== -1 && !before.has(user, used)) {
        const help = `Add "depends: ${from}": the files are known only after the step has finished.`;
        return [problem('missing-dependency', spot, `${what} does not depend on "${from}"`, { help })];
      }
      const source = steps[used]?.raw ?? {};
      if (source.run !== undefined || keepsArtifacts(source)) return [];
      const help = 'Name the files in that step, for example artifacts: dist/**';
      return [problem('not-supported', spot, `step "${from}" keeps no artifacts`, { help })];
    });
  });
}

/** A pattern with variables is checked again after each attempt. */
function leavesDirectory(path: string): boolean {
  return /^[/~]/.test(path) || posix.normalize(path).split('/')[0] === '..';
}

function isFolderName(name: string): boolean {
  return /^(?!\.\.?$)[^/\p{Cc}]+$/u.test(name) && Buffer.byteLength(name) <= 255;
}

/** What a step with `sources` cannot have, and why. */
const NEVER_UP_TO_DATE = {
  run: 'the files of the other workflow are not among its sources',
  service: 'a service runs for other steps',
  approval: 'a person is asked in each run',
  container: 'its image is not among its sources',
  artifacts: 'they belong to the run that made them',
  repeatPolicy: 'it repeats whatever its sources are',
} as const;

/** A text that is a path of one run. */
const RUN_PATH = /\$\{[A-Za-z_][\w-]*\.(?:stdout|stderr|artifacts)\b[^}]*\}/;

/** Checks `sources`, `generates`, `method` and `cache` of a step. */
export function upToDateProblems(entry: ActionEntry): Problem[] {
  const { file, path, raw, what } = entry;
  const { sources, generates, method } = raw;
  if (sources === undefined) return [...withoutSources(entry)];
  const at = (key: string) => [...path, key];
  const problems = [...patternProblems(entry, 'sources', sources), ...patternProblems(entry, 'generates', generates)];
  for (const [other, why] of Object.entries(NEVER_UP_TO_DATE)) {
    const value = raw[other as keyof typeof NEVER_UP_TO_DATE];
    if (value === undefined || value === false) continue;
    const related = [{ spot: spotIn(file, at(other), 'key'), message: `"${other}" is given here` }];
    const help = `A step with "${other}" cannot be up to date: ${why}. Give "sources" to a step with a command.`;
    const spot = spotIn(file, at('sources'), 'key');
    problems.push(problem('conflicting-keys', spot, `${what} has both "${other}" and "sources"`, { related, help }));
  }
  if (raw.container === undefined && isInContainer(entry)) {
    const help = 'Its image is not among its sources. Give "sources" to a step with a command of this machine.';
    const message = `${what}: "sources" of a step in a container are not supported`;
    problems.push(problem('not-supported', spotIn(file, at('sources'), 'key'), message, { help }));
  }
  problems.push(...cacheProblems(entry));
  if (method === 'timestamp' && asList(generates).length === 0) {
    const help = 'Name the files that the step writes: generates: bin/app.';
    problems.push(
      problem('missing-key', spotIn(file, at('method')), `${what}: "timestamp" needs "generates"`, { help }),
    );
  }
  return [...problems, ...secretProblems(entry), ...runPathProblems(entry)];
}

function withoutSources({ file, path, raw, what }: ActionEntry): readonly Problem[] {
  const keys = (['generates', 'method', 'cache'] as const).filter(
    (key) => raw[key] !== undefined && raw[key] !== false,
  );
  const help = 'Name the files that the step reads: sources: src/**.';
  return keys.map((key) =>
    problem('missing-key', spotIn(file, [...path, key], 'key'), `${what} has "${key}" but no "sources"`, { help }),
  );
}

/** An earlier success is found by the content of the sources, and has the files that the step generated. */
function cacheProblems(entry: ActionEntry): readonly Problem[] {
  const { file, path, raw, what } = entry;
  const { cache = false, method } = raw;
  if (cache === false) return [];
  const problems: Problem[] = [];
  if (method === 'timestamp') {
    const related = [{ spot: spotIn(file, [...path, 'method']), message: '"timestamp" is given here' }];
    const help = 'Times do not tell which version a source has. Remove "method".';
    const spot = spotIn(file, [...path, 'cache'], 'key');
    problems.push(
      problem('conflicting-keys', spot, `${what} has both "cache" and "method: timestamp"`, { related, help }),
    );
  }
  if (cache === true || cache.paths === undefined) return problems;
  return [...problems, ...patternProblems({ ...entry, path: [...path, 'cache'] }, 'paths', cache.paths)];
}

function patternProblems(
  { file, path, what }: ActionEntry,
  key: 'sources' | 'generates' | 'paths',
  written: TextOrList | undefined,
): readonly Problem[] {
  if (written === undefined) return [];
  const patterns = asList<string>(written);
  const spotOf = (index: number): Path => (typeof written === 'string' ? [...path, key] : [...path, key, index]);
  const wrong = (at: Path, message: string, help: string) =>
    problem('wrong-value', spotIn(file, at), `${what}: ${message}`, { help });
  if (key === 'sources' && patterns.every((pattern) => pattern.startsWith('!'))) {
    const message = patterns.length === 0 ? '"sources" is empty' : '"sources" only leaves files out';
    return [wrong([...path, key], message, 'Name files that the step reads, for example src/**.')];
  }
  return patterns.flatMap((pattern, index) => {
    const bare = pattern.replace(/^!/, '');
    if (bare.trim() === '') return [wrong(spotOf(index), `a pattern of "${key}" is empty`, 'For example src/**.')];
    if (key !== 'sources' && bare !== pattern)
      return [wrong(spotOf(index), '"!" is only for "sources"', 'Name the files that the step writes.')];
    if (!leavesDirectory(bare)) return [];
    const help = 'A pattern is relative to "dir" of the step, and cannot leave it.';
    return [wrong(spotOf(index), `"${pattern}" is not below the directory of the step`, help)];
  });
}

/** A stored success has its outputs, which are not stored if they are secret. */
function secretProblems({ file, path, raw, what }: ActionEntry): readonly Problem[] {
  const name = typeof raw.output === 'string' ? variableName(raw.output) : null;
  if (name === null || !secretNames(file.raw).includes(name)) return [];
  const help = 'Print it in a step of its own, without "sources".';
  const message = `${what}: the secret output "${name}" is not stored, so that the step is never up to date`;
  return [problem('conflicting-keys', spotIn(file, [...path, 'sources'], 'key'), message, { help })];
}

/** A path that differs in each run would make the step run each time. */
function runPathProblems({ file, path, raw, what }: ActionEntry): readonly Problem[] {
  const { command, script, args, dir, env, executor } = raw;
  const [reference] = RUN_PATH.exec(JSON.stringify([command, script, args, dir, env, executor])) ?? [];
  if (reference === undefined) return [];
  const help = 'Let the other step write a file below "dir", and name that in "sources"; or use its "output".';
  const message = `${what}: ${reference} is another path in each run, so that the step is never up to date`;
  return [problem('conflicting-keys', spotIn(file, [...path, 'sources'], 'key'), message, { help })];
}

/** Warns of two steps that generate the same files: each makes the other one write them again. */
export function generatedTwiceProblems(steps: readonly StepEntry[]): readonly Problem[] {
  const all = steps.flatMap(patternsOf);
  return all.flatMap((one, index) => {
    const other = all.slice(0, index).find((before) => before.name !== one.name && overlap(before.path, one.path));
    if (other === undefined) return [];
    const message = `steps "${other.name}" and "${one.name}" both generate "${one.pattern}"`;
    const related = [{ spot: spotIn(other.file, other.at), message: `here in "${other.name}"` }];
    const help = 'Let one step write these files, or name them more narrowly.';
    return [problem('overlapping-files', spotIn(one.file, one.at), message, { severity: 'warning', related, help })];
  });
}

type Generated = {
  readonly file: SpecFile;
  readonly at: Path;
  readonly name: string;
  readonly pattern: string;
  readonly path: string;
};

function patternsOf({ file, path, raw, name }: StepEntry): readonly Generated[] {
  const { generates, sources, dir = '' } = raw;
  if (generates === undefined || sources === undefined || name === null) return [];
  return asList<string>(generates).flatMap((pattern, index) => {
    const at = typeof generates === 'string' ? [...path, 'generates'] : [...path, 'generates', index];
    // Other patterns are reported already.
    if (pattern.trim() === '' || pattern.startsWith('!') || leavesDirectory(pattern)) return [];
    return [{ file, at, name, pattern, path: posix.join('/', dir, pattern) }];
  });
}

/** Whether two patterns certainly name a common file: they are the same, or one is a directory with all below it. */
function overlap(a: string, b: string): boolean {
  const isWithin = (inner: string, outer: string) => {
    const directory = outer.replace(/\/(?:\*\*)?$/, '');
    return !/[*?[\]{}$`]/.test(directory) && `${inner}/`.startsWith(`${directory}/`);
  };
  return a === b || isWithin(a, b) || isWithin(b, a);
}
