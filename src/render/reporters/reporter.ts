import type { StoredEvent } from '../../core/run/run.ts';
import type { RunState } from '../../core/run/run-state.ts';
import type { RunSummary } from '../../core/run/summary.ts';
import type { Workflow } from '../../core/workflow.ts';
import type { Place } from '../../language/diagnostic.ts';

/** New output of a step, as raw bytes in the order in which they were written to that stream. */
export type OutputChunk = {
  readonly step: string;
  readonly attempt: number;
  readonly stream: 'stdout' | 'stderr';
  readonly bytes: Uint8Array;
};

/** What a reporter needs to close with a recap. */
export type Recap = {
  readonly summary: RunSummary;
  /** Where each failed step stands in its file; a step that is missing here has no place. */
  readonly places: ReadonlyMap<string, Place>;
  /** The last lines of output of each failed step (of every step for who `wantsTails`), without line ends. */
  readonly tails: ReadonlyMap<string, readonly string[]>;
  /** Of each step that a retry took over: the id of the run that has its logs. */
  readonly origins: ReadonlyMap<string, string>;
  /** Of each step that carried out another run, in its last attempt here: how that run ended. */
  readonly children?: ReadonlyMap<string, Recap>;
  /** False when nothing of the run was kept (`--no-history`): then there is nothing to look up or to retry. */
  readonly kept: boolean;
  /** Present: its stored workflow has masks in the place of secrets, so that a retry needs the file. */
  readonly masked?: true;
};

/** Where a reporter writes. */
export type Terminal = {
  /** Never throws and never blocks on a closed output. */
  readonly write: (text: string | Uint8Array) => void;
  readonly isTerminal: boolean;
  /** In cells; asked anew for every frame, since a window can change. */
  readonly size: () => { readonly columns: number; readonly rows: number };
  /** Calls back when the window has another size, until the result is called. */
  readonly onResize?: (callback: () => void) => () => void;
  /** Whether to use colour, and whether glyphs beyond ASCII can be shown. */
  readonly color: boolean;
  readonly unicode: boolean;
  /** True where colours are not wanted at all: then those of the steps' output go too. */
  readonly stripsColors?: boolean;
};

/** A run that a step of another one carries out: its workflow is the step's work. */
export type ChildRun = {
  readonly runId: string;
  readonly workflow: Workflow;
  /** The steps that lead to it, from the run that the reporter is of: `['release', 'build']`. */
  readonly path: readonly string[];
};

/** Shows a child run, whose events come between those of the run around it. */
export type ChildReporter = Pick<Reporter, 'event' | 'output'>;

/** Turns a run into what a person or a program reads. One run, one reporter. */
export type Reporter = {
  /** False when the reporter has no use for output: then nobody follows the logs. */
  readonly wantsOutput: boolean;
  /** True when the recap is to have the last lines of all steps, not only of failed ones. */
  readonly wantsTails?: boolean;
  readonly begin: (workflow: Workflow, runId: string) => void;
  /** After each stored event, with the state that it led to. */
  readonly event: (event: StoredEvent, state: RunState) => void;
  readonly output: (chunk: OutputChunk) => void;
  /** What shows a child run, from its first event on; absent where only the step itself is shown. */
  readonly child?: (run: ChildRun) => ChildReporter;
  /** The last call; nothing is written after it. */
  readonly end: (recap: Recap) => void;
  /** What to write at once for the terminal to be as it was, if `end` was not called and will not be; empty for nothing. */
  readonly abandon?: () => string;
};
