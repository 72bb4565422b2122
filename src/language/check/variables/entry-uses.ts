import type { Json } from '../../../core/workflow.ts';
import { assignments } from '../../build/assignments.ts';
import type { Path } from '../../problem.ts';
import type { RawAction, TextOrList } from '../../raw.ts';
import { asList } from '../../raw.ts';
import type { VariableUse } from './shell-uses.ts';
import { commandUses, listUses, scriptUses, substitutedUses, templateUses } from './text-uses.ts';

/** A use and the way to its text, from the step or function. */
export type LocatedUse = VariableUse & { readonly path: Path };

/** Executors that hand `config` to `wf` to replace the variables in its texts. */
const CONFIG_TEMPLATES = new Set(['http', 'webhook', 'docker', 'mail', 'terraform', 'ansible', 'ssh']);
/** Executors whose command is words in which `wf` replaces the variables, on this machine. */
const COMMAND_TEMPLATES = new Set(['http', 'terraform', 'ansible']);

/** The variables that the texts of a step or handler use. `shell`: the one of the workflow. */
export function entryUses(raw: RawAction, shell: string): readonly LocatedUse[] {
  const { executor } = raw;
  const type = (typeof executor === 'string' ? executor : executor?.type) ?? 'command';
  const config = typeof executor === 'object' ? executor.config : undefined;
  return [
    ...(type === 'command' ? workUses(raw, raw.shell ?? shell) : []),
    ...(COMMAND_TEMPLATES.has(type) && typeof raw.command === 'string'
      ? at(['command'], commandUses(raw.command, ''))
      : []),
    ...(type === 'jq' ? [] : textUses(raw.args, ['args'])),
    ...(['dir', 'stdout', 'stderr'] as const).flatMap((key) => textUses(raw[key], [key])),
    ...assignments(raw.env).flatMap(({ value, path }) => at(['env', ...path], substitutedUses(value))),
    ...conditionUses(raw, shell),
    ...textUses(raw.call?.args, ['call', 'args']),
    ...textUses(raw.params, ['params']),
    ...(CONFIG_TEMPLATES.has(type) ? textUses(config, ['executor', 'config']) : []),
  ];
}

/** The variables of what a step or a function runs on this machine. */
export function workUses(
  { command, script }: { readonly command?: TextOrList; readonly script?: string },
  shell: string,
): readonly LocatedUse[] {
  const interpreter = typeof command === 'string' ? command : (command?.join(' ') ?? shell);
  const inScript = script === undefined ? [] : at(['script'], scriptUses(script, interpreter));
  if (command === undefined) return inScript;
  if (typeof command === 'string') return [...at(['command'], commandUses(command, shell)), ...inScript];
  const words = listUses(command).flatMap((uses, index) => at(['command', index], uses));
  return [...words, ...inScript];
}

function conditionUses({ preconditions }: RawAction, shell: string): readonly LocatedUse[] {
  const list = asList(preconditions);
  return list.flatMap((item, index) => {
    const path = ['preconditions', ...(Array.isArray(preconditions) ? [index] : [])];
    if (typeof item === 'string') return at(path, commandUses(item, shell));
    const { condition = '', expected } = item;
    if (expected === undefined) return at([...path, 'condition'], commandUses(condition, shell));
    // In a pattern a dollar is also the end of a line.
    const wanted = expected.startsWith('re:') ? [] : templateUses(expected);
    return [...at([...path, 'condition'], substitutedUses(condition)), ...at([...path, 'expected'], wanted)];
  });
}

/** The uses in each text within a value. */
function textUses(value: Json | undefined, path: Path): readonly LocatedUse[] {
  if (typeof value === 'string') return at(path, templateUses(value));
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item: Json, index) => textUses(item, [...path, index]));
  return Object.entries(value).flatMap(([key, item]) => textUses(item, [...path, key]));
}

function at(path: Path, uses: readonly VariableUse[]): readonly LocatedUse[] {
  return uses.map((use) => ({ ...use, path }));
}
