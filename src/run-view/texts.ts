/** The words for a run and its steps: names, statuses, counts, and what differs from an earlier run. */

export { type EarlierRun, earlierRunOf } from './earlier.ts';
export {
  countedName,
  FOLD_ROOM,
  type Instance,
  instanceStep,
  progressText,
  shownInstance,
  type Unfolding,
  unfolded,
} from './fan-out/instance.ts';
export { countsText, presentLook, presentRunLook, runLook, type StatusLook, stepLook } from './status.tsx';
export { counted, DETAIL_ROOM, MAX_TEXT, shortened, stepDetail } from './step-text.ts';
