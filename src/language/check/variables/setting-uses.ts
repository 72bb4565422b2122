import type { Json, RunNumberKey } from '#core/workflow.ts';
import { assignments } from '../../build/assignments.ts';
import { runNumberTextsOf } from '../../build/number-texts.ts';
import { evaluatedTexts, isDeclaration } from '../../declared-params.ts';
import type { NamedTexts, OpenTexts, RawAction, RawWorkflow } from '../../raw.ts';
import { at, conditionUses, type LocatedUse, substitutedUses, textUses } from './entry-uses.ts';

/** The texts of a workflow that are evaluated outside of its steps. */
type Settings = {
  readonly params?: string | OpenTexts;
  readonly env?: NamedTexts;
  readonly preconditions?: NonNullable<RawAction['preconditions']>;
  readonly notify?: NonNullable<RawWorkflow['notify']>;
  readonly container?: NonNullable<RawAction['container']>;
} & Pick<RawWorkflow, RunNumberKey>;

/** The variables that texts and numbers of a workflow use outside of its steps, by their key. */
export function settingUses(raw: Settings, shell: string): readonly (readonly [key: string, readonly LocatedUse[]])[] {
  return [
    ['params', paramUses(raw.params)],
    ['env', assignments(raw.env).flatMap(({ value, path }) => at(['env', ...path], substitutedUses(value)))],
    ['preconditions', [...conditionUses(raw, shell)]],
    ['notify', [...textUses(raw.notify as Json | undefined, ['notify'])]],
    ['container', [...textUses(raw.container, ['container'])]],
    ...(runNumberTextsOf(raw).numbers ?? []).map(({ key, text }) => [key, [...textUses(text, [key])]] as const),
  ];
}

function paramUses(params: Settings['params']): LocatedUse[] {
  if (params === undefined) return [];
  if (typeof params === 'string') return at(['params'], substitutedUses(params));
  const entries = isList(params) ? params : [params];
  return entries.flatMap((entry, index) => {
    const path = ['params', ...(isList(params) ? [index] : [])];
    if (typeof entry === 'string') return at(path, substitutedUses(entry));
    const texts = isDeclaration(entry) ? evaluatedTexts(entry) : Object.entries(entry);
    return texts.flatMap(([name, value]) =>
      typeof value === 'string' ? at([...path, name], substitutedUses(value)) : [],
    );
  });
}

function isList(params: OpenTexts): params is Extract<OpenTexts, readonly unknown[]> {
  return Array.isArray(params);
}
