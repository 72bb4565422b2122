import type { RawItems } from '../../build/fan-out.ts';
import type { Path } from '../../problem.ts';
import type { RawAction } from '../../raw.ts';
import { type SpecFile, stepEntries } from '../../read/spec-file.ts';

/** A step or handler and its path; `what` names it in messages (`step "load"`). */
export type ActionEntry = {
  readonly file: SpecFile;
  readonly path: Path;
  readonly raw: RawAction & RawItems;
  readonly what: string;
  /** Whether one of its texts has a `$`: without one it uses no variables. */
  readonly hasDollar: boolean;
};

/** `defaults`, which are checked like the keys of a step; none without them. */
export function defaultsEntries(file: SpecFile): ActionEntry[] {
  const { defaults } = file.raw;
  if (defaults === undefined) return [];
  return [{ file, path: ['defaults'], raw: defaults, what: '"defaults"', hasDollar: hasDollar(defaults) }];
}

const entriesOfFiles = new WeakMap<SpecFile, readonly ActionEntry[]>();

/** The steps and handlers of a file, with their names for messages. */
export function actionEntries(file: SpecFile): readonly ActionEntry[] {
  const kept = entriesOfFiles.get(file) ?? findEntries(file);
  entriesOfFiles.set(file, kept);
  return kept;
}

function findEntries(file: SpecFile): readonly ActionEntry[] {
  const steps = stepEntries(file).map(({ path, raw, name }): ActionEntry => {
    const what = name === null ? `step ${Number(path[1]) + 1}` : `step "${name}"`;
    return { file, path, raw, what, hasDollar: hasDollar(raw) };
  });
  const handlers = Object.entries(file.raw.handlerOn ?? {}).map(([kind, raw]): ActionEntry => {
    return { file, path: ['handlerOn', kind], raw, what: `handler "${kind}"`, hasDollar: hasDollar(raw) };
  });
  return [...steps, ...handlers];
}

function hasDollar(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('$');
  return typeof value === 'object' && value !== null && Object.values(value).some(hasDollar);
}
