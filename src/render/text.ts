/** Texts about runs for every room, the page included: values, failures, commands, and what a terminal or HTML must not get. */

export { type FailedRun, failurePath, failureReason, failuresAt, failuresIn, withFailures } from './text/failures.ts';
export {
  artifactTexts,
  commandText,
  lateTexts,
  locksText,
  readsQuotes,
  settingWords,
  statusText,
  stepTitle,
} from './text/run-text.ts';
export {
  controlCharacters,
  escapeControls,
  escapeHtml,
  escapeLines,
  keepColors,
  stripControls,
} from './text/sanitize.ts';
export { applySgr, type SgrState } from './text/sgr.ts';
export { pendingApprovals, shellQuote } from './text/suggested-commands.ts';
export {
  byteText,
  counted,
  dateAndTime,
  formatDuration,
  formatElapsed,
  formatInterval,
  shortId,
  utcTime,
} from './text/value-text.ts';
export { clusters, padEnd, textWidth } from './text/width.ts';
