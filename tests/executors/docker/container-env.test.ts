import { expect, test } from 'vitest';
import { containerEnv } from '#executors/docker/container.ts';
import { handler, step, workflow } from '../../support/workflow.ts';
import { testAttempt } from '../attempt.ts';

const steps = [step('a', { output: 'OUT' }), step('b')];
const handlers = { failure: handler('failure', { output: 'TOLD' }), exit: handler('exit') };
const secrets = [{ name: 'KEY', env: 'MY_KEY', file: null }];
const made = workflow({ name: 'w', steps, handlers, secrets, env: [{ name: 'MODE', value: 'fast' }] });

const variables = {
  ...{ WF_RUN_ID: 'r1', WF_WORKFLOW: 'w', WF_ATTEMPT: '1', WF_PARAMS_JSON: '{"A":1}' },
  ...{ DAG_NAME: 'w', DAG_REQUEST_ID: 'r1', DAG_RUN_ID: 'r1', DAG_RUN_STATUS: 'failed' },
  ...{ WF_LOG_FILE: '/log', WF_STATUS: 'failed', WF_FAILED_STEP: 'a' },
  ...{ WF_ERROR: 'exit 1', MODE: 'fast', KEY: 's3cret', OUT: 'o', TOLD: 't', HOME: '/root', EDITOR: 'vi' },
  WF_OUTPUT_FILE_LONG: '/long',
};

/** The environment of a container whose step mentions these words, without what every container gets. */
function given(name: string, mention: string): readonly string[] {
  const ofStep = { WF_STEP: name, DAG_RUN_STEP_NAME: name };
  const { attempt } = testAttempt({ runId: 'r1', name, variables: { ...variables, ...ofStep } });
  const env = containerEnv({ ...attempt, workflow: made }, mention, {});
  const always = [
    'WF_RUN_ID=r1',
    'WF_WORKFLOW=w',
    `WF_STEP=${name}`,
    'WF_ATTEMPT=1',
    'DAG_NAME=w',
    'DAG_REQUEST_ID=r1',
    'DAG_RUN_ID=r1',
    `DAG_RUN_STEP_NAME=${name}`,
  ];
  expect(env).toEqual(expect.arrayContaining(always));
  return env.filter((entry) => !always.includes(entry));
}

test('a container gets the variables that its text mentions, and none of the machine', () => {
  expect(given('b', 'echo hello')).toEqual([]);
  expect(given('b', 'echo $MODE $OUT $TOLD $HOME $EDITOR $WF_LOG_FILE $WF_PARAMS_JSON')).toEqual([
    ...['MODE=fast', 'OUT=o', 'TOLD=t', 'WF_PARAMS_JSON={"A":1}', 'WF_LOG_FILE=/log'],
  ]);
});

test('a container gets a secret that its text mentions', () => {
  expect(given('b', 'curl -H "Authorization: $KEY"')).toEqual(['KEY=s3cret']);
});

test('the container of a handler gets the status of the run, whatever its text', () => {
  expect(given('handlerOn.exit', '')).toEqual([
    ...['WF_STATUS=failed', 'WF_FAILED_STEP=a', 'WF_ERROR=exit 1', 'DAG_RUN_STATUS=failed'],
  ]);
});
