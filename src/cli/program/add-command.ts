import type { Command } from 'commander';
import type { Console } from '../terminal/console.ts';

/** Tells the exit code of the command that ran. */
export type SetExitCode = (code: number) => void;

/**
 * Adds one command to the program; its own module is loaded when it is called. `words` is the whole command line behind the
 * program's name.
 */
export type AddCommand = (
  program: Command,
  console: Console,
  setExitCode: SetExitCode,
  words: readonly string[],
) => void;

/** Options that every command takes. */
export type CommonOptions = { readonly dags?: string };
