import type { StoredEvent } from '#core/run/run.ts';
import type { RunState } from '#core/run/run-state.ts';
import type { Failures, RunSummary } from '#core/summary/summary.ts';
import type { Workflow } from '#core/workflow.ts';
import type { Position } from '#language/diagnostic.ts';

/** New output of a step, as raw bytes in the order in which they were written to that log. */
export type OutputChunk = {
  readonly step: string;
  readonly attempt: number;
  readonly stream: 'output' | 'stdout' | 'stderr';
  readonly bytes: Uint8Array;
  /** When it was written, in milliseconds since 1970-01-01 UTC, if that is wanted; null if it is unknown. */
  readonly at?: number | null;
};

/** The data of a recap. */
export type Recap = {
  /** With its failures, as far as they are known. */
  readonly summary: RunSummary;
  /** The positions of failed steps in their files, as far as they are known. */
  readonly positions: ReadonlyMap<string, Position>;
  /** The last lines of output of each failed step (of every step with `wantsTails`), without line breaks. */
  readonly tails: ReadonlyMap<string, readonly string[]>;
  /** With `wantsTails`: for each failed step and instance with a child run, the failures of that run. */
  readonly childFailures?: ReadonlyMap<string, Failures>;
  /** The child runs of running steps, which may wait for approval. */
  readonly children?: ReadonlyMap<string, Recap>;
  /** False if the run was not stored (`--no-history`), so that it cannot be looked up or retried. */
  readonly kept: boolean;
  /** Present if the stored workflow is masked, so that a retry needs the file. */
  readonly masked?: true;
};

/** The output of a reporter. */
export type Terminal = {
  /** Never throws, and never blocks on a closed output. */
  readonly write: (text: string | Uint8Array) => void;
  readonly isTerminal: boolean;
  /** The size in cells, read for every frame, since a window can change. */
  readonly size: () => { readonly columns: number; readonly rows: number };
  /** Calls back when the size of the window changes, until the returned function is called. */
  readonly onResize?: (callback: () => void) => () => void;
  /** Whether to use colours, and whether the terminal shows symbols beyond ASCII. */
  readonly color: boolean;
  readonly unicode: boolean;
  /** Whether to remove colours from the output of steps as well. */
  readonly stripsColors?: boolean;
};

/** A child run: the run of a sub-workflow step. */
export type ChildRun = {
  readonly runId: string;
  readonly workflow: Workflow;
  /** Its parent steps, from the run of the reporter: `['release', 'build']`. */
  readonly path: readonly string[];
};

/** Shows a child run, whose events arrive between those of its parent. */
export type ChildReporter = Pick<Reporter, 'event' | 'output'>;

/** A question to the person at the terminal, and the line that is being typed. Texts may contain any characters. */
export type Prompt = {
  readonly question: string;
  /** The problem with the previous answer; null at first. */
  readonly fault: string | null;
  /** The prompt before the typed text; null: the question is for another user. */
  readonly label: string | null;
  readonly typed: string;
  readonly cursor: number;
};

/** Shows a run to a person or a program. Each run has its own reporter. */
export type Reporter = {
  /** False if the reporter does not show output; then the logs are not followed. */
  readonly wantsOutput: boolean;
  /** Whether the recap contains the last lines of all steps, not only of failed ones. */
  readonly wantsTails?: boolean;
  readonly begin: (workflow: Workflow, runId: string) => void;
  /** Called after each stored event, with the resulting state. */
  readonly event: (event: StoredEvent, state: RunState) => void;
  readonly output: (chunk: OutputChunk) => void;
  /** Returns the reporter of a child run, from its first event; absent if child runs are not shown. */
  readonly child?: (run: ChildRun) => ChildReporter;
  /** Shows a question below everything else, until it is replaced or null; absent if the reporter has no live view. */
  readonly prompt?: (prompt: Prompt | null) => void;
  /** Takes the usual duration of the workflow; absent if the reporter does not show it. */
  readonly estimate?: (usualMs: number) => void;
  /** The last call; the reporter writes nothing after it. */
  readonly end: (recap: Recap) => void;
  /** Returns the text that restores the terminal if `end` will not be called; may be empty. */
  readonly abandon?: () => string;
};

/** The names of the reporters for standard output, for `--reporter`. */
export const reporterKinds = ['tree', 'plain', 'github', 'json', 'quiet'] as const;

/** One of `reporterKinds`. */
export type ReporterKind = (typeof reporterKinds)[number];

/** The facts for the choice of a reporter. */
export type ReporterFacts = {
  readonly isTerminal: boolean;
  readonly ci: boolean;
  readonly githubActions: boolean;
  readonly term: string;
};

/** Returns the requested reporter, or one that fits; where lines cannot be redrawn, `plain` replaces a tree. */
export function chooseReporter(asked: ReporterKind | null, facts: ReporterFacts): ReporterKind {
  const canRedraw = facts.isTerminal && facts.term !== 'dumb';
  if (asked !== null) return asked === 'tree' && !canRedraw ? 'plain' : asked;
  if (facts.githubActions) return 'github';
  return canRedraw && !facts.ci ? 'tree' : 'plain';
}

/** The values of `--output`: the amount of output that a finished step leaves on a terminal. */
export const outputModes = ['full', 'last', 'errors', 'none'] as const;
