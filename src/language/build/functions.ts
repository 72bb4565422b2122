import { given } from '#core/data/collections.ts';
import type { Assignment } from '#core/workflow.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import { type Path, type Problem, problem } from '../diagnostic.ts';
import type { RawAction, RawFunction, TextOrList } from '../raw.ts';
import { type SpecFile, spotIn } from '../read/spec-file.ts';

/** Maximum number of missing or surplus arguments reported per call, and of parameters listed in a help text. */
const MOST_ARGUMENTS = 10;

/** A function and the file that defines it. */
export type FunctionEntry = {
  readonly file: SpecFile;
  readonly path: Path;
  readonly raw: RawFunction;
  readonly parameters: ReadonlySet<string>;
};
/** The functions of a workflow, by name. */
export type Functions = ReadonlyMap<string, FunctionEntry>;

/** Collects the functions of several files. A second function with the same name is an error. */
export function collectFunctions(files: readonly SpecFile[]): { functions: Functions; problems: readonly Problem[] } {
  const functions = new Map<string, FunctionEntry>();
  const problems: Problem[] = [];
  for (const file of files) {
    for (const [index, raw] of (file.raw.functions ?? []).entries()) {
      const entry = { file, path: ['functions', index], raw, parameters: new Set(parameterNames(raw.params)) };
      const first = raw.name === undefined ? undefined : functions.get(raw.name);
      if (first !== undefined) problems.push(duplicate(first, entry));
      else if (raw.name !== undefined) functions.set(raw.name, entry);
      if (raw.command !== undefined || raw.script !== undefined) continue;
      const message = `function "${raw.name ?? ''}" has nothing to run`;
      const help = 'A function needs "command" or "script".';
      problems.push(problem('missing-key', spotIn(file, entry.path), message, { help }));
    }
  }
  return { functions, problems };
}

/** Checks a step's `call`. `hasAll`: the functions of all files are known. */
export function callProblems(
  call: { file: SpecFile; path: Path; raw: RawAction },
  functions: Functions,
  hasAll: boolean,
): Problem[] {
  const { file, path, raw } = call;
  const name = raw.call?.function;
  if (raw.call === undefined || name === undefined) return [];
  const target = functions.get(name);
  if (target === undefined) {
    if (!hasAll) return [];
    const label = () => didYouMean(nearNames(name, functions.keys()));
    const help = functions.size === 0 ? 'The file defines no "functions".' : null;
    const spot = spotIn(file, [...path, 'call', 'function']);
    return [problem('unknown-function', spot, `unknown function "${name}"`, { label, help })];
  }
  const given = new Set(Object.keys(raw.call.args ?? {}));
  const missing = without(target.parameters, given);
  const unknown = without(given, target.parameters);
  if (missing.length === 0 && unknown.length === 0) return [];
  const related = [{ spot: spotIn(target.file, [...target.path, 'name']), message: `"${name}" is defined here` }];
  const takes = `It takes ${listed(target.parameters)}.`;
  return [
    ...missing.map((parameter) => {
      const message = `function "${name}" needs the argument "${parameter}"`;
      return problem('function-arguments', spotIn(file, [...path, 'call'], 'key'), message, { related, help: takes });
    }),
    ...unknown.map((parameter) => {
      const message = `function "${name}" has no parameter "${parameter}"`;
      const label = () => didYouMean(nearNames(parameter, missing));
      const spot = spotIn(file, [...path, 'call', 'args', parameter], 'key');
      return problem('function-arguments', spot, message, { label, related, help: takes });
    }),
  ];
}

/** Expands a call: the function's command and script, with the arguments placed before the step's own variables. */
export function expandCall(raw: RawAction, functions: Functions): { action: RawAction; args: readonly Assignment[] } {
  const target = raw.call?.function === undefined ? undefined : functions.get(raw.call.function);
  if (target === undefined) return { action: raw, args: [] };
  const { command, script } = target.raw;
  const args = Object.entries(raw.call?.args ?? {}).map(([name, value]) => ({ name, value }));
  const work = given({ command, script });
  return { action: { ...raw, ...work }, args };
}

/** The names in `a b`, or in a list. */
export function parameterNames(params: TextOrList | undefined): readonly string[] {
  const list = typeof params === 'string' ? params.split(/[\s,]+/) : (params ?? []);
  return list.filter((name) => name !== '');
}

/** The first names that are missing from the others. */
function without(names: ReadonlySet<string>, others: ReadonlySet<string>): string[] {
  const found: string[] = [];
  for (const name of names) {
    if (found.length === MOST_ARGUMENTS) break;
    if (!others.has(name)) found.push(name);
  }
  return found;
}

function listed(parameters: ReadonlySet<string>): string {
  if (parameters.size === 0) return 'no arguments';
  const first = without(parameters, new Set());
  const more = parameters.size - first.length;
  return `${first.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
}

function duplicate(first: FunctionEntry, second: FunctionEntry): Problem {
  const spot = spotIn(second.file, [...second.path, 'name']);
  const message = `"${first.raw.name}" is defined here first`;
  const related = [{ spot: spotIn(first.file, [...first.path, 'name']), message }];
  const options = { label: 'the second', related };
  return problem('duplicate-function', spot, `function "${second.raw.name}" is defined twice`, options);
}
