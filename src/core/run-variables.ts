/**
 * The names of the variables that `wf` sets, except `ITEM`, its fields, and `WF_OUTPUT_FILE_<NAME>`. `run`, `moment`,
 * `step` and `end` mean the same on every machine, in a container too.
 */
export const runVariables = {
  run: ['WF_RUN_ID', 'WF_WORKFLOW', 'DAG_NAME', 'DAG_REQUEST_ID', 'DAG_RUN_ID'],
  /** The moment for which the run was started, and the one before it. */
  moment: ['WF_SCHEDULED_FOR', 'WF_SCHEDULED_DATE', 'WF_PREVIOUS_FOR'],
  step: ['WF_STEP', 'WF_ATTEMPT', 'DAG_RUN_STEP_NAME'],
  /** Set if the run has named parameters. */
  params: ['WF_PARAMS_JSON', 'DAG_PARAMS_JSON', 'DAGU_PARAMS_JSON'],
  /** Paths on this machine. */
  logs: [
    'WF_LOG_FILE',
    'DAG_RUN_LOG_FILE',
    'DAG_EXECUTION_LOG_PATH',
    'DAG_RUN_STEP_STDOUT_FILE',
    'DAG_RUN_STEP_STDERR_FILE',
  ],
  /** Of a step with `outputs`. */
  outputs: ['WF_OUTPUT_FILE', 'DAGU_OUTPUT_FILE'],
  /** Of a step with `artifacts`. */
  artifacts: ['WF_ARTIFACTS_DIR', 'DAG_RUN_ARTIFACTS_DIR'],
  items: ['WF_ITEM_INDEX', 'WF_ITEM_COUNT'],
  /** The end of a run, or its waiting steps, for handlers. */
  end: ['WF_STATUS', 'WF_FAILED_STEP', 'WF_ERROR', 'WF_WAITING_STEPS', 'DAG_RUN_STATUS'],
  notifications: ['WF_RUN_URL'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** All of these names. */
export const runVariableNames: readonly string[] = Object.values(runVariables).flat();
