/** Running processes: who they are, whether they are alive, what belongs to a run, and how to end it. */

export { sendSignal } from './attempt-tree.ts';
export { endDeadGroups } from './groups/dead-groups.ts';
export { enterRunGroup, lowerPriority, type RunGroup } from './groups/run-group.ts';
export {
  declareGone,
  identify,
  identityFor,
  isAlive,
  isElsewhere,
  isInThisScope,
  leftBy,
  mayBeAlive,
  processMoment,
  processScope,
  thisProcess,
} from './process-identity.ts';
export { endProcesses, findRunProcesses } from './process-tree.ts';
