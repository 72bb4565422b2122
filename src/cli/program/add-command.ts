import type { Command } from 'commander';
import { defaultWorkflow, workflowHere } from '#service/workflows.ts';
import { WfError } from '#system/errors.ts';
import type { Console } from '../terminal/console.ts';

/** Sets the exit code of the program once its command has run. */
export type SetExitCode = (code: number) => void;

/** Adds one command to the program. Its own module is loaded when it is called. `words` are the arguments of the program. */
export type AddCommand = (
  program: Command,
  console: Console,
  setExitCode: SetExitCode,
  words: readonly string[],
) => void;

/** The options that every command takes. */
export type CommonOptions = { readonly dags?: string };

/** The parameters after the first argument of a command, and the name by which the command was called. */
type Operands = { readonly called: string; readonly rest: readonly string[] };

/** Returns the operands of a command that takes a workflow, by default the one of `defaultWorkflow`, then parameters. */
export function workflowOperands(
  name: string | undefined,
  rest: readonly string[],
  words: readonly string[],
): Operands & { readonly name: string } {
  const cwd = process.cwd();
  if (name !== undefined && (!/^\w+=/.test(name) || workflowHere(name, cwd) !== null)) {
    return { ...operands(name, rest, words), name };
  }
  const file = defaultWorkflow(cwd, words[0] ?? 'run');
  return { ...operands(file, name === undefined ? rest : [name, ...rest], words), name: file };
}

/** Returns the operands of a command. Throws a `WfError` `usage` for a second workflow file before `--`. */
export function operands(first: string, rest: readonly string[], words: readonly string[]): Operands {
  const [called = ''] = words;
  const separator = words.indexOf('--');
  const behind = separator === -1 ? 0 : words.length - separator - 1;
  const files = rest.slice(0, Math.max(0, rest.length - behind)).filter((word) => /^(?!\w+=).*\.ya?ml$/is.test(word));
  if (files.length === 0) return { called, rest };
  const shown = [first, ...files].slice(0, 3).join(', ') + (files.length > 2 ? ', ...' : '');
  const message = `wf ${called} takes one workflow, and the command line names ${files.length + 1}: ${shown}`;
  throw new WfError('usage', message, {
    help: 'run them one after the other; a parameter that ends in .yaml goes after --',
  });
}
