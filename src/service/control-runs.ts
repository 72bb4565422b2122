/** What other folders use to end runs and to answer their steps. */
export { checkInput, mayAnswer, onlyWaitingStep } from './runs/answering.ts';
export { userName } from './user-name.ts';
