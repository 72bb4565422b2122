/** The reporters, which show a run while it is running, and the choice of one. */

export { createGithubReporter, githubSummary } from './reporters/github.ts';
export type { OutputMode } from './reporters/held-lines.ts';
export { createJsonReporter } from './reporters/json.ts';
export { junitReport } from './reporters/junit.ts';
export { createPlainReporter, createPrefix } from './reporters/plain.ts';
export { createQuietReporter } from './reporters/quiet.ts';
export type { ChildReporter, OutputChunk, Prompt, Recap, Reporter } from './reporters/reporter.ts';
export { chooseReporter, outputModes, type ReporterKind, reporterKinds } from './reporters/reporter.ts';
export type { TerminalSigns } from './reporters/tree/live-region.ts';
export { createTreeReporter } from './reporters/tree/tree.ts';
export type { RecapOptions } from './views/recap.ts';
