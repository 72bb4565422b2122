import { namesIn } from '#core/words/interpolate.ts';
import { lockNameProblem } from '#core/workflow.ts';
import { type Path, type Problem, type ProblemOptions, problem } from '../diagnostic.ts';
import { entriesAt, envNames, type RawLock, type RawLocks } from '../raw.ts';
import { type ActionEntry, actionEntries, type SpecFile, spotIn } from '../read/spec-file.ts';

const MAX_LOCKS = 32;
const RUN = 'the workflow';

/** A lock as written, with the position of its name. */
type WrittenLock = Exclude<RawLock, string> & { readonly name: string; readonly at: Path; readonly nameAt: Path };

function writtenLocks({ locks }: RawLocks, path: Path): readonly WrittenLock[] {
  return entriesAt<RawLock>(locks, [...path, 'locks']).map(({ path: at, entry }) =>
    typeof entry === 'string'
      ? { name: entry, at, nameAt: at }
      : { ...entry, name: entry.name ?? '', at, nameAt: entry.name === undefined ? at : [...at, 'name'] },
  );
}

/** Checks `locks` of a step or handler. */
export function stepLockProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  const own = new Set(envNames([raw.env]));
  const unset = writtenLocks(raw, path).flatMap(({ name, nameAt }) => {
    const used = [...namesIn(name)].find((variable) => own.has(variable));
    if (used === undefined) return [];
    const message = `${what}: the name of a lock cannot use "${used}" of the step's own "env"`;
    const help = 'The lock is taken first. Set the variable in the "env" of the workflow, or in "params".';
    return [problem('wrong-value', spotIn(file, nameAt), message, { help })];
  });
  const isAlone = raw.lockTimeoutSec !== undefined && raw.locks === undefined && !file.damaged.has(raw);
  const alone = `${what}: "lockTimeoutSec" needs "locks"`;
  return [
    ...(isAlone ? [problem('missing-key', spotIn(file, [...path, 'lockTimeoutSec'], 'key'), alone)] : []),
    ...lockProblems(file, writtenLocks(raw, path), what),
    ...unset,
  ];
}

/** Checks `locks` of the workflow. */
export function runLockProblems(file: SpecFile): Problem[] {
  return lockProblems(file, writtenLocks(file.raw, []), RUN);
}

function lockProblems(file: SpecFile, locks: readonly WrittenLock[], what: string): Problem[] {
  const wrong = (at: Path, message: string, options: ProblemOptions = {}) =>
    problem('wrong-value', spotIn(file, at), `${what}: ${message}`, options);
  const [surplus] = locks.slice(MAX_LOCKS);
  if (surplus !== undefined) return [wrong(surplus.at, `${locks.length} locks are more than ${MAX_LOCKS}`)];
  const first = new Map<string, WrittenLock>();
  return locks.flatMap((lock) => {
    const { name, at, nameAt, slots, mode } = lock;
    const invalid = name.includes('$') ? null : lockNameProblem(name);
    if (invalid !== null) return [wrong(nameAt, invalid, { help: 'For example: deploy-$ENV.' })];
    const other = first.get(name);
    first.set(name, lock);
    if (other !== undefined) {
      const related = [{ spot: spotIn(file, other.nameAt), message: 'and here' }];
      const isMixed = (other.mode ?? 'write') !== (mode ?? 'write');
      const help = isMixed
        ? 'Keep the one with "mode: write": it includes reading.'
        : 'Keep one of them, with "slots".';
      return [wrong(nameAt, `it takes the lock "${name}" twice`, { related, help })];
    }
    if (mode !== 'read' || slots === undefined) return [];
    return [wrong([...at, 'slots'], '"slots" has no effect with "mode: read"', { help: 'Remove one of the two.' })];
  });
}

/** Reports locks of steps that their run holds already. `settings`: the base and the root file. */
export function heldLockProblems(settings: readonly SpecFile[], files: readonly SpecFile[]): Problem[] {
  const top = settings.findLast(({ raw }) => raw.locks !== undefined);
  if (top === undefined) return [];
  const held = new Map(writtenLocks(top.raw, []).map((lock) => [lock.name, lock]));
  return files.flatMap(actionEntries).flatMap(({ file, path, raw, what }) =>
    writtenLocks(raw, path).flatMap(({ name, nameAt }) => {
      const own = held.get(name);
      if (own === undefined) return [];
      const related = [{ spot: spotIn(top, own.nameAt), message: 'the run holds it' }];
      const message = `${what}: the run holds the lock "${name}" from its start to its end`;
      const help = 'Remove it here, or at the top of the file.';
      return [problem('conflicting-keys', spotIn(file, nameAt), message, { related, help })];
    }),
  );
}

/** A lock and the number of its slots. */
export type LockSize = { readonly name: string; readonly slots: number };

/** Reports requests for more slots than a lock has. `pools`: the locks with other than one slot. */
export function poolProblems(files: readonly SpecFile[], pools: readonly LockSize[]): Problem[] {
  const sizes = new Map(pools.map(({ name, slots }) => [name, slots]));
  const ofRuns = files.map((file) => ({ file, path: [], raw: file.raw, what: RUN }));
  return [...ofRuns, ...files.flatMap(actionEntries)].flatMap(({ file, path, raw, what }) =>
    writtenLocks(raw, path).flatMap(({ name, at, slots = 1 }) => {
      const size = sizes.get(name) ?? 1;
      if (name.includes('$') || slots <= size) return [];
      const message = `${what}: the lock "${name}" has ${size} ${size === 1 ? 'slot' : 'slots'}`;
      const help = `Give it ${slots} by the setting "pools", or ask for fewer.`;
      return [problem('wrong-value', spotIn(file, [...at, 'slots']), message, { help })];
    }),
  );
}
