import { assignments } from '../../build/assignments.ts';
import { evaluatedTexts, isDeclaration } from '../../declared-params.ts';
import type { NamedTexts, OpenTexts, RawAction } from '../../raw.ts';
import { at, conditionUses, type LocatedUse, substitutedUses } from './entry-uses.ts';

/** The texts of a workflow that are evaluated before its first step. */
type Settings = {
  readonly params?: string | OpenTexts;
  readonly env?: NamedTexts;
  readonly preconditions?: NonNullable<RawAction['preconditions']>;
};

/** The variables that `env`, the defaults of `params` and the preconditions of a workflow use, by their key. */
export function settingUses(raw: Settings, shell: string): readonly (readonly [key: string, LocatedUse[]])[] {
  return [
    ['params', paramUses(raw.params)],
    ['env', assignments(raw.env).flatMap(({ value, path }) => at(['env', ...path], substitutedUses(value)))],
    ['preconditions', [...conditionUses(raw, shell)]],
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
