/** What other folders use to start, queue and retry runs. */
export { retryChild, retryChildren, selectSteps } from './on-demand.ts';
export { beginRun, type Carrier, type CarrierReport, launchRun, startCarrier } from './runs/carrier.ts';
export { derivedRunId } from './runs/derived-run-id.ts';
export {
  acceptParams,
  childParams,
  isLongCheck,
  openParams,
  paramFault,
  takesPositions,
  unsetParams,
} from './runs/given-params.ts';
export { createLocalRuns, fileOf, type LocalRunTools } from './runs/local-runs.ts';
export {
  type ClaimedRun,
  claimRun,
  recordLate,
  refuseQueued,
  type StartOfRuns,
  storeRun,
  withoutRun,
} from './runs/queued-run.ts';
export { keptEnvFiles, keptParams, momentOf, retryRequest, workflowChanges } from './runs/retry-run.ts';
export { runRequest, type StartRequest, withDotenv } from './runs/start-run.ts';
