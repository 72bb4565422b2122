import { expect, test } from 'vitest';
import { apiWorld } from '../support/api-world.ts';

const login = { token: 'the-token', readOnlyToken: 'look-only', basic: null };
const files = {
  'broken.yaml': 'steps:\n  - name: a\n    command: echo\n    executor: hunter2-in-a-wrong-place\n',
  'valid.yaml': 'steps:\n  - name: a\n    command: echo\n',
};
const pages = [
  '/api/v1/dags',
  '/api/v1/dags/broken',
  '/api/v1/dags/broken?tab=spec',
  '/api/v1/dags/broken/spec',
  '/api/v1/search?q=hunter2',
  '/api/v2/workflows',
  '/api/v2/workflows/broken',
];

test('a read-only login gets the codes and positions of problems, without values of the file', async () => {
  const { ask } = await apiWorld(files, { login });
  const seen = async (path: string, token: string) =>
    (await ask('GET', path, { headers: { Authorization: `Bearer ${token}` } })).body;

  // Both orders: an answer cached for one login must not be sent to the other.
  for (const token of ['the-token', 'look-only', 'the-token']) {
    for (const path of pages.filter((each) => !each.includes('search'))) {
      const isShown = (await seen(path, token)).includes('hunter2');
      expect([path, token, isShown]).toEqual([path, token, token === 'the-token']);
    }
  }
  expect(await seen('/api/v1/search?q=hunter2', 'look-only')).not.toContain('hunter2');
  const { workflows } = JSON.parse(await seen('/api/v2/workflows?name=broken', 'look-only')) as {
    workflows: readonly { diagnostics: readonly object[] }[];
  };
  expect(workflows[0]?.diagnostics).toMatchObject([
    {
      severity: 'error',
      message: expect.stringMatching(/^[a-z-]+ \(withheld from a read-only login\)$/),
      line: 4,
      help: null,
    },
  ]);
  const { Errors } = JSON.parse(await seen('/api/v1/dags', 'look-only')) as { Errors: readonly string[] };
  expect(Errors).toEqual([expect.stringMatching(/^broken\.yaml: 4:\d+: [a-z-]+ \(withheld from a read-only login\)$/)]);
});

test('an error does not repeat a megabyte of its request', async () => {
  const { ask } = await apiWorld(files);
  const long = 'x'.repeat(900_000);
  const yaml = { 'Content-Type': 'text/yaml' };
  const answers = await Promise.all([
    ask('POST', '/api/v1/dags/valid', { body: new URLSearchParams({ action: long }) }),
    ask('POST', '/api/v1/dags/valid', { body: { action: long } }),
    ask('POST', '/api/v1/dags', { body: { action: long } }),
    ask('POST', '/api/v1/dags', { body: { action: 'new', value: long } }),
    ask('POST', '/api/v1/dags/valid', { body: { action: 'suspend', value: long } }),
    ask('POST', '/api/v1/dags/valid', { body: { action: 'retry', 'request-id': long } }),
    ask('POST', '/api/v1/dags/valid', {
      body: { action: 'save', value: `${long}: 1\nsteps: [{name: a, command: b}]\n` },
    }),
    ask('POST', '/api/v2/workflows/valid/runs', { body: { runId: long } }),
    ask('POST', '/api/v2/workflows/valid/runs', { body: { [long]: 1 } }),
    ask('POST', '/api/v2/workflows/valid/runs', { body: { params: `${long}=1` } }),
    ask('POST', '/api/v2/validate', { body: `${long}: 1\n`, headers: yaml }),
    ask('POST', '/api/v2/validate', {
      body: `steps:\n  - name: ${long}\n    comand: ${long.slice(0, 9)}\n`,
      headers: yaml,
    }),
  ]);
  expect(answers.map(({ status, body }) => [status >= 400 || status === 200, body.length < 20_000])).toEqual(
    answers.map(() => [true, true]),
  );
  const [first] = answers;
  expect(JSON.parse(first?.body ?? '')).toMatchObject({
    message: expect.stringMatching(/^there is no action "x+ \.\.\. \(\d+ characters left out\) \.\.\. x+"$/),
  });
});
