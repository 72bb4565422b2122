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
};

/** `defaults`, which are checked like the keys of a step; none without them. */
export function defaultsEntries(file: SpecFile): ActionEntry[] {
  const { defaults } = file.raw;
  return defaults === undefined ? [] : [{ file, path: ['defaults'], raw: defaults, what: '"defaults"' }];
}

/** The steps and handlers of a file, with their names for messages. */
export function actionEntries(file: SpecFile): ActionEntry[] {
  const steps = stepEntries(file).map(({ path, raw, name }) => {
    return { file, path, raw, what: name === null ? `step ${Number(path[1]) + 1}` : `step "${name}"` };
  });
  const handlers = Object.entries(file.raw.handlerOn ?? {}).map(([kind, raw]) => {
    return { file, path: ['handlerOn', kind], raw, what: `handler "${kind}"` };
  });
  return [...steps, ...handlers];
}
