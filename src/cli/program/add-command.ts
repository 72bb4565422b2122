import type { Command } from 'commander';
import type { Console } from '../console.ts';

/** Tells the exit code of the command that ran. */
export type SetExitCode = (code: number) => void;

/** Adds one command to the program; its own module is loaded when it is called. */
export type AddCommand = (program: Command, console: Console, setExitCode: SetExitCode) => void;

/** Options that every command takes. */
export type CommonOptions = { readonly dags?: string };
