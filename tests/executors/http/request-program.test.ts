import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { httpServer } from '../../support/http-server.ts';
import { startWf, wf } from '../../support/wf.ts';
import { temporaryDirectory } from '../attempt.ts';

// These tests run the built program: its bundled got, and jq with its thread and its WebAssembly.
beforeAll(() => {
  execFileSync(process.execPath, [resolve(import.meta.dirname, '../../../scripts/setup.mjs')]);
}, 120_000);

/** Creates a workflow in a directory of its own, and a way to run it. */
function workflow(yaml: string) {
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, 'workflow.yaml'), yaml);
  return {
    args: ['run', '--reporter', 'quiet', 'workflow.yaml'],
    options: { cwd, env: { WF_HOME: join(cwd, 'home') } },
  };
}

test('an answer is fetched, processed and sent to a webhook', async () => {
  const server = await httpServer(({ url }, response) => {
    response.end(url === '/ask' ? '{"choices": [{"message": {"content": "to \\"be\\""}}]}' : '');
  });
  const { args, options } = workflow(`
params: QUESTION='say "what"?'
env:
  - BASE: ${server.url}
steps:
  - name: ask
    command: POST $BASE/ask
    executor:
      type: http
      config:
        headers: {Authorization: Bearer $TOKEN, Content-Type: application/json}
        silent: true
        body: |
          {"messages": [{"role": "user", "content": "$QUESTION"}]}
    output: API_RESPONSE
  - name: get result
    executor:
      type: jq
      config: {raw: true}
    command: ".choices[0].message.content"
    script: "$API_RESPONSE"
    output: CONTENT
    depends: ask
handlerOn:
  success:
    executor:
      type: webhook
      config:
        url: $BASE/told
        body: {status: $WF_STATUS, content: $CONTENT}
`);
  const { code, stderr } = await wf(args, { ...options, env: { ...options.env, TOKEN: 't' } });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(server.received.map(({ url, body }) => [url, JSON.parse(body) as unknown])).toEqual([
    ['/ask', { messages: [{ role: 'user', content: 'say "what"?' }] }],
    ['/told', { status: 'succeeded', content: 'to "be"' }],
  ]);
  expect(server.received[0]?.headers.authorization).toBe('Bearer t');
});

test('a time limit ends a filter and a request, and the program with them', async () => {
  const server = await httpServer(() => {});
  const { args, options } = workflow(`
steps:
  - {name: filter, executor: jq, command: "[range(infinite)]", script: "1", timeoutSec: 0.3}
  - {name: request, executor: http, command: "GET ${server.url}", timeoutSec: 0.3}
`);
  const { code, stdout } = await wf(args, options);
  expect(code).toBe(1);
  expect(stdout.match(/timed out after 0\.3s/g)).toHaveLength(2);
});

test('a stop ends both', async () => {
  const server = await httpServer((_request, response) => response.write('begun'));
  const { args, options } = workflow(`
steps:
  - {name: filter, executor: jq, command: "[range(infinite)]", script: "1"}
  - {name: request, executor: http, command: "GET ${server.url}"}
`);
  const running = startWf(args, options);
  await expect.poll(() => server.received.length).toBe(1);
  running.kill('SIGTERM');
  expect((await running.ended).code).toBe(143);
});
