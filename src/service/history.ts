/** What other folders use of stored runs: find, read, show, mark and remove them. */
export {
  type Artifact,
  archiveOf,
  artifactsOf,
  bytesOfArtifact,
  isSafeName,
  matchArtifacts,
  type OpenArtifact,
  openArtifact,
  type RunArtifacts,
  requireSafeNames,
  storedArtifacts,
} from './history/artifacts.ts';
export { evolveIfFit, foldRun } from './history/fold-run.ts';
export {
  anyRun,
  createHistory,
  earlierRun,
  type History,
  type RunFilter,
  type RunPosition,
} from './history/history.ts';
export { type JudgeOwner, releaseFinished } from './history/lost-run.ts';
export { keepingReader, type PastRun, readFinished, readPastRun, summarizePastRun } from './history/past-run.ts';
export type { RemovedRun, RetentionReport, RetentionRequest, RetentionRule } from './history/removal.ts';
export { summarizeWithFailures } from './history/run-failures.ts';
export { findRunId, liesBelow, type Reach, requireKnownWorkflow, requireRunOf } from './history/run-reference.ts';
export { counting, drawRun, MAX_ATTEMPTS, runViewJson, stepViewJson } from './history/run-views.ts';
export { applyRetention, attachArtifacts, removePastRun, summarizeNotice, usualDurationOf } from './on-demand.ts';
