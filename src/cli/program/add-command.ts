import type { Command } from 'commander';
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
