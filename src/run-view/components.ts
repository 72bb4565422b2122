/** The components that page and report show of a run. */

export { type AnsiSpan, type AnsiSpans, createAnsiSpans, Spans } from './ansi-spans.tsx';
export { type Fact, FactList } from './fact-list.tsx';
export { AttemptLine, answerText, Instances, RunFacts, RunParams, StepFacts, StepOutputs, WaitText } from './facts.tsx';
export { FailureList, LogText, spansOfLines } from './failure-box.tsx';
export { criticalPath, RunHeader } from './run-header.tsx';
export { StatusIcon } from './status.tsx';
export { StepLine, StepRow } from './step-line.tsx';
export {
  beginning,
  ROW_HEIGHT,
  startedInstances,
  Timeline,
  TimelineLegend,
  timelineRows,
  timeScale,
} from './timeline.tsx';
