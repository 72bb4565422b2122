import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../executors/attempt.ts';
import { httpServer, type Received, type TestServer } from '../support/http-server.ts';
import { wf } from '../support/wf.ts';

// These tests run the built program.
beforeAll(() => {
  execFileSync(process.execPath, [resolve(import.meta.dirname, '../../scripts/setup.mjs')]);
}, 120_000);

const publicUrl = 'https://ops.example.com/wf/';

/** A directory with a workflow `etl.yaml`, and a server that accepts everything. */
async function world(yaml: string) {
  const server = await httpServer((_, response) => response.writeHead(200).end('ok'));
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, 'etl.yaml'), yaml);
  const env = { WF_HOME: join(cwd, 'home'), WF_REPORTER: 'quiet', WF_PUBLIC_URL: publicUrl, BASE: server.url };
  return { server, cwd, run: (...args: readonly string[]) => wf(args, { cwd, env }) };
}

/** The bodies that the server received, by path, without what differs between runs. */
function bodies({ received }: TestServer): Record<string, unknown> {
  return Object.fromEntries(received.map((request) => [request.url, JSON.parse(stable(request.body))]));
}

function stable(text: string): string {
  return text
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '<id>')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g, '<time>')
    .replace(/Took \d+\.\d+s/g, 'Took <took>');
}

function header({ headers }: Received, name: string): unknown {
  return headers[name];
}

const failing = `
notify:
  - {to: slack, url: $BASE/slack}
  - {to: teams, url: $BASE/teams}
  - {to: discord, url: $BASE/discord}
  - {to: ntfy, url: $BASE/topic, priority: high, tags: "warning,etl", token: tk_secret}
  - {to: webhook, url: $BASE/success, on: success}
steps:
  - {name: load, script: "echo '<!channel> & @everyone'; exit 3"}
  - {name: after, command: "true", depends: load}
`;

describe('a failed run', () => {
  test('is reported to each service as it documents, without mentions', async () => {
    const { server, run } = await world(failing);
    expect(await run('run', 'etl.yaml')).toMatchObject({ code: 1, stderr: '' });
    const url = 'https://ops.example.com/wf/runs/<id>';
    const output = '<!channel> & @everyone';
    const took = 'Took <took>, finished <time>';
    expect(bodies(server)).toEqual({
      '/slack': {
        text: `*etl failed*\n${took}\nload: exit 3\n\`\`\`\n&lt;!channel&gt; &amp; @everyone\n\`\`\`\n<${url}|Open the run>`,
      },
      '/teams': {
        type: 'message',
        attachments: [
          {
            contentType: 'application/vnd.microsoft.card.adaptive',
            contentUrl: null,
            content: {
              $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
              type: 'AdaptiveCard',
              version: '1.4',
              body: [
                { type: 'TextBlock', text: 'etl failed', wrap: true, weight: 'Bolder', size: 'Medium' },
                { type: 'TextBlock', text: took, wrap: true },
                { type: 'TextBlock', text: 'load: exit 3', wrap: true },
                { type: 'TextBlock', text: output, wrap: true, fontType: 'Monospace', spacing: 'Small' },
              ],
              actions: [{ type: 'Action.OpenUrl', title: 'Open the run', url }],
            },
          },
        ],
      },
      '/discord': {
        embeds: [
          {
            title: 'etl failed',
            description: `${took}\nload: exit 3\n\`\`\`\n${output}\n\`\`\``,
            color: 0xd1242f,
            url,
          },
        ],
        allowed_mentions: { parse: [] },
      },
      '/': {
        topic: 'topic',
        title: 'etl failed',
        message: `${took}\nload: exit 3\n  ${output}`,
        tags: ['warning', 'etl'],
        priority: 4,
        click: url,
      },
    });
    const ntfy = server.received.find((request) => request.url === '/');
    expect(ntfy && header(ntfy, 'authorization')).toBe('Bearer tk_secret');
  });

  test('shows a webhook the run, with a signature of the body', async () => {
    const { server, run } = await world(`
env: [{KEY: topsecret}]
notify: {to: webhook, url: $BASE/hook, on: always, headers: {X-Team: data}, secret: $KEY, method: put}
steps: [{name: load, command: sh -c "exit 3"}]
`);
    expect((await run('run', 'etl.yaml')).code).toBe(1);
    const [request] = server.received;
    if (request === undefined) throw new Error('no request');
    const signature = createHmac('sha256', 'topsecret').update(request.body).digest('hex');
    expect(request).toMatchObject({
      method: 'PUT',
      headers: { 'content-type': 'application/json', 'x-team': 'data', 'x-wf-signature': `sha256=${signature}` },
    });
    const { run: summary, ...rest } = JSON.parse(stable(request.body));
    expect(rest).toEqual({
      event: 'failure',
      text: 'etl failed\nTook <took>, finished <time>\nload: exit 3',
      url: 'https://ops.example.com/wf/runs/<id>',
    });
    expect(summary).toMatchObject({ workflow: 'etl', status: 'failed', steps: [{ name: 'load', exitCode: 3 }] });
  });

  test('carries artifacts, as a form that keeps body and signature', async () => {
    const { server, run } = await world(`
env: [{KEY: topsecret}, {EXT: xml}]
notify:
  - {to: webhook, url: $BASE/hook, headers: {content-type: text/plain}, body: b-$WF_STATUS, secret: $KEY, attach: ["t*/**/*.$EXT", none]}
  - {to: discord, url: $BASE/discord, attach: [tests, big]}
  - {to: webhook, url: $BASE/none, attach: none}
steps:
  - name: tests
    script: mkdir d; echo '<a/>' > 'd/a"b.xml'; echo '<b/>' > same.txt; echo c > d/same.txt; exit 3
    artifacts: [d, same.txt]
  - {name: big, script: "truncate -s 10485761 big.bin", artifacts: big.bin}
`);
    expect((await run('run', 'etl.yaml', '--run-id', 'r')).code).toBe(1);
    const forms = new Map(
      await Promise.all(
        server.received.map(async ({ url, headers, body }) => {
          const type = String(headers['content-type']);
          const form = type.startsWith('multipart/')
            ? await new Response(body, { headers: { 'content-type': type } }).formData()
            : new FormData();
          const parts = [...form].map(async ([name, value]) => [
            name,
            typeof value === 'string' ? value : [value.name, await value.text()],
          ]);
          return [url, Object.fromEntries(await Promise.all(parts))] as const;
        }),
      ),
    );
    expect(forms.get('/hook')).toEqual({ payload_json: 'b-failed', 'files[0]': ['a"b.xml', '<a/>\n'] });
    const hook = server.received.find(({ url }) => url === '/hook');
    const signature = createHmac('sha256', 'topsecret')
      .update(hook?.body ?? '')
      .digest('hex');
    expect(hook && [header(hook, 'x-wf-signature'), hook.body.match(/Content-Type: .*/)?.[0]]).toEqual([
      `sha256=${signature}`,
      'Content-Type: text/plain',
    ]);
    expect(forms.get('/discord')).toEqual({
      payload_json: expect.stringContaining('"title":"etl failed"'),
      'files[0]': ['a"b.xml', '<a/>\n'],
      'files[1]': ['tests-d-same.txt', 'c\n'],
      'files[2]': ['tests-same.txt', '<b/>\n'],
    });
    const plain = server.received.find(({ url }) => url === '/none');
    expect(plain && header(plain, 'content-type')).toBe('application/json');
    const { warnings } = JSON.parse((await run('status', 'r', '--json')).stdout);
    const { host } = new URL(server.url);
    expect(warnings).toEqual([
      `the notification to discord (${host}): the artifact "big/big.bin" is not attached: a message has at most 10 MiB of artifacts`,
    ]);
  });

  test('fills texts of the file with variables and outputs, and masks secrets in texts for people', async () => {
    const { server, run } = await world(`
secrets: [TOKEN]
env: [{TOKEN: hunter22}]
notify:
  - {to: slack, url: $BASE/slack, title: "$WF_STATUS: $WF_FAILED_STEP", message: "$WHO $TOKEN $WF_ERROR $WF_RUN_URL"}
  - {to: webhook, url: $BASE/hook, body: {key: $TOKEN, who: '$WHO'}}
steps:
  - {name: who, command: "printf 'a\\"b'", output: WHO}
  - {name: load, command: "false", depends: who}
`);
    expect((await run('run', 'etl.yaml')).code).toBe(1);
    const url = 'https://ops.example.com/wf/runs/<id>';
    expect(bodies(server)).toEqual({
      '/slack': { text: `*failed: load*\na"b *** step "load" failed: exit 1 ${url}\n<${url}|Open the run>` },
      '/hook': { key: 'hunter22', who: 'a"b' },
    });
  });
});

test('the number of lines can be a variable; an invalid value causes a warning', async () => {
  const { server, run } = await world(`
params: LINES=1
notify: {to: slack, url: $BASE/slack, lines: $LINES}
steps: [{name: load, script: "echo first; echo last; exit 3"}]
`);
  expect((await run('run', 'etl.yaml')).code).toBe(1);
  expect(JSON.stringify(bodies(server))).toMatch(/```\\nlast\\n```/);
  await run('run', 'etl.yaml', '-p', 'LINES=all');
  expect((await run('status')).stdout).toContain(
    '"notify.lines: $LINES" must be a whole number from 0 to 100, got "all"',
  );
  expect(server.received).toHaveLength(1);
});

test('a recovery is a success after a failed run', async () => {
  const { server, cwd, run } = await world(`
notify: [{to: webhook, url: $BASE/hook, on: recovery}, {to: slack, url: $BASE/slack, on: [recovery, success]}]
steps: [{name: load, command: test -e ok}]
`);
  expect((await run('run', 'etl.yaml')).code).toBe(1);
  writeFileSync(join(cwd, 'ok'), '');
  expect((await run('run', 'etl.yaml')).code).toBe(0);
  expect((await run('run', 'etl.yaml')).code).toBe(0);
  const titles = server.received.map(({ url, body }) => {
    const { event, text } = JSON.parse(body);
    return [url, event, String(text).split('\n')[0]];
  });
  expect(titles.sort()).toEqual([
    ['/hook', 'recovery', 'etl recovered'],
    ['/slack', undefined, '*etl recovered*'],
    ['/slack', undefined, '*etl succeeded*'],
  ]);
});

test('a notification that is not sent causes a warning, and its address is stored and shown nowhere', async () => {
  const gone = await httpServer((_, response) => response.writeHead(410).end());
  const { cwd, run } = await world(`
notify:
  - {to: slack, url: "${gone.url}/services/T00/secret-path"}
  - {to: ntfy, url: $NOTHING}
steps: [{name: load, command: "echo ${gone.url}/services/T00/secret-path; false"}]
`);
  const { code, stderr } = await run('run', 'etl.yaml', '--reporter', 'plain');
  expect(code).toBe(1);
  expect(stderr).toBe('');
  const { stdout } = await run('status', '--json');
  expect(JSON.parse(stdout).warnings).toEqual([
    `the notification to slack (127.0.0.1:${gone.port}) was not sent: 410 Gone`,
    'the notification to ntfy was not sent: its "url" is empty',
  ]);
  expect(filesIn(join(cwd, 'home')).filter((text) => text.includes('secret-path'))).toEqual([]);
});

function filesIn(directory: string): readonly string[] {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}

describe('wf notify', () => {
  test('sends a sample of each notification, evaluated as in a run, and runs no step', async () => {
    const { server, cwd, run } = await world(`
params: ENV=dev
notify: [{to: slack, url: "$BASE/$ENV"}, {to: webhook, url: $BASE/hook, on: [recovery]}]
preconditions: [{condition: "false"}]
steps: [{name: load, command: touch done}]
`);
    const { code, stdout } = await run('notify', 'etl.yaml', '-p', 'ENV=prod');
    const host = server.url.slice('http://'.length);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `slack (${host}): sent\nwebhook (${host}): sent\n` });
    expect(bodies(server)).toMatchObject({
      '/prod': { text: expect.stringContaining('*etl (sample) failed*') },
      '/hook': { event: 'recovery', text: expect.stringContaining('etl (sample) recovered') },
    });
    expect(readdirSync(cwd)).not.toContain('done');
  });

  test('reports unsent notifications', async () => {
    const gone = await httpServer((_, response) => response.writeHead(403).end());
    const { run } = await world(`
notify: {to: discord, url: "${gone.url}/x"}
steps: [{name: load, command: "true"}]
`);
    const { code, stdout } = await run('notify', 'etl.yaml', '--json');
    const problem = '403 Forbidden';
    expect({ code, sent: JSON.parse(stdout) }).toEqual({
      code: 1,
      sent: [{ to: 'discord', host: `127.0.0.1:${gone.port}`, problem }],
    });
  });

  test('rejects a workflow without notifications, and one that cannot be evaluated', async () => {
    const { cwd, run } = await world('steps: [{name: load, command: "true"}]\n');
    const none = await run('notify', 'etl.yaml');
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('workflow "etl" has no notifications') });
    writeFileSync(
      join(cwd, 'etl.yaml'),
      `
notify: {to: slack, url: $BASE/x}
env: [{A: "\`exit 4\`"}]
steps: [{name: load, command: "true"}]
`,
    );
    const broken = await run('notify', 'etl.yaml');
    expect(broken).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no sample was sent: env "A": `exit 4`: exit 4'),
    });
  });
});
