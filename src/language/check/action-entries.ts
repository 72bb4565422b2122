import type { SpecFile } from '../read/spec-file.ts';
import { stepEntries } from '../read/spec-file.ts';
import type { ActionEntry } from './check-action.ts';

/** The steps and handlers of a file, with what they are called in messages. */
export function actionEntries(file: SpecFile): ActionEntry[] {
  const steps = stepEntries(file).map(({ path, raw, name }) => {
    return { file, path, raw, what: name === null ? `step ${Number(path[1]) + 1}` : `step "${name}"` };
  });
  const handlers = Object.entries(file.raw.handlerOn ?? {}).map(([kind, raw]) => {
    return { file, path: ['handlerOn', kind], raw, what: `handler "${kind}"` };
  });
  return [...steps, ...handlers];
}
