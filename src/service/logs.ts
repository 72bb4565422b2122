/** What other folders use of the logs of runs. */
export { keptText, type LogPart, logParts, lostText, whyNothing } from './history/logs/log-source.ts';
export {
  type AttemptReference,
  attemptsOf,
  createLogTimes,
  followLogs,
  isGoingOn,
  type LoggedRun,
  type LogReader,
  type LogView,
  readLogs,
  showLogs,
  tailStart,
} from './history/logs/log-view.ts';
export { type LogQuery, searchLogs } from './history/logs/search-logs.ts';
