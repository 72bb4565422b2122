/** What other folders use to end runs and to answer their steps. */
export { checkInput, mayAnswer, onlyWaitingStep } from './runs/answering.ts';
export type { StopTools } from './runs/end-run.ts';
export { userName } from './user-name.ts';
