import { expect, it } from 'vitest';
import { httpServer } from '../../support/http-server.ts';
import { describeWith } from '../../support/require.ts';
import { smtpServer } from '../../support/smtp-server.ts';
import { hasTemporal, type StartedWorker, temporalWorld } from '../../support/temporal.ts';

describeWith('temporal', hasTemporal, 'notices of runs on Temporal', () => {
  const workers: StartedWorker[] = [];
  const world = temporalWorld(async (server) => workers.push(await start('one', server)));

  function start(name: string, server = world.server): Promise<StartedWorker> {
    return server.worker(name, { args: ['--slots', '1'], env: { KEY: 's3cret-key' } });
  }

  /** A workflow in a home of its own. */
  function place(text: string) {
    const { cwd, call, start } = world.place({ 'work.yaml': text }, { KEY: 's3cret-key' });
    const engine = ['--engine', world.server.url, '--lost-after', '3'];
    const run = (...more: readonly string[]) => start('run', 'work.yaml', '--reporter', 'plain', ...more);
    return { cwd, run, engine, call };
  }

  /** A web and a mail server. */
  async function servers(answer: Parameters<typeof httpServer>[0] = (_, response) => response.end('ok')) {
    return { web: await httpServer(answer), mail: await smtpServer() };
  }

  it('are those of a run without an engine', { timeout: 180_000 }, async () => {
    const { web, mail } = await servers();
    const text = `
secrets: [KEY]
params: NAME=world
notify:
  - {to: webhook, url: "${web.url}/hook", on: [failure, waiting], lines: 2}
  - {to: slack, url: "${web.url}/slack/$FOUND", on: failure, message: "$WF_FAILED_STEP of $NAME: $WF_ERROR $FOUND"}
smtp: {host: 127.0.0.1, port: ${mail.port}}
mailOn: {failure: true, wait: true}
infoMail: {from: ci@example.org, to: ops@example.org, prefix: "[Info]"}
errorMail: {from: ci@example.org, to: ops@example.org, prefix: "[Error]", attachLogs: true}
steps:
  - {name: find, command: echo here, output: FOUND, mailOn: {success: true}}
  - {name: go, depends: find, approval: {prompt: "Ship \${find.output} with $KEY?"}}
  - {name: child, depends: go, run: inner, continueOn: {failure: true}}
  - {name: each, depends: child, parallel: [a, b], command: exit 1, mailOn: {failure: true}}
---
name: inner
steps: [{name: bad, script: "echo one; echo why-$KEY; exit 7"}]
`;
    const sent = async (args: readonly string[]) => {
      const own = place(text);
      const before = [web.received.length, mail.received.length];
      const run = own.run('--on-approval', 'wait', ...args);
      await run.until('Ship here with');
      await expect.poll(() => mail.received.length - (before[1] ?? 0)).toBe(2);
      expect((await own.call('approve', '@latest')).code).toBe(0);
      expect((await run.ended).code).toBe(1);
      const { stdout } = await own.call('status', '@latest', '--json');
      const runId = JSON.parse(stdout).runId;
      const plain = (one: string) =>
        one
          .replaceAll(own.cwd, 'DIR')
          .replaceAll(runId, 'RUN')
          .replace(/[0-9a-f]{8}-[0-9a-f]{4}(-[0-9a-f-]+)?/g, 'ID')
          .replace(/Took \S+, finished [\d-]+ [\d:]+ UTC/g, 'Took')
          // A run without an engine has its logs on this machine.
          .replace(/"log":"DIR[^"]*"/g, '"log":null');
      const mails = mail.received.slice(before[1]).map(({ headers, raw }) => ({
        subject: headers['subject'],
        attached: [...raw.matchAll(/filename="?([^"\r\n;]+)/g)].map(([, name]) => name),
        hasRetry: raw.includes(`Retry with: wf retry ${runId}`),
        hasSecret: raw.includes('s3cret-key'),
        cause: /child &gt; bad|child > bad/.test(raw.replace(/=\r\n/g, '')),
      }));
      const posts = web.received.slice(before[0]).map(({ url, body }) => {
        const { event, run: told, text: said } = JSON.parse(body);
        const causes = told?.failures?.map((failure: { path: unknown; error: unknown; lines: unknown }) => failure);
        return { url, event, text: said, status: told?.status, waitingFor: told?.waitingFor, causes };
      });
      // Those of one moment are sent together.
      const sorted = (all: readonly object[]) => all.map((one) => JSON.stringify(one)).sort();
      return [...sorted(mails), ...sorted(posts)].map(plain);
    };
    const local = await sent([]);
    expect(local).toHaveLength(7);
    expect(local.filter((one) => one.includes('why-***'))).toHaveLength(1);
    expect(await sent(place('').engine)).toEqual(local);
  });

  it('that are not delivered are warnings of the run, also after its end', { timeout: 180_000 }, async () => {
    const mail = await smtpServer();
    const web = await httpServer((_, response) => response.writeHead(404).end());
    const own = place(`
notify: [{to: webhook, url: "${web.url}/", on: success}]
smtp: {host: 127.0.0.1, port: ${mail.port}}
infoMail: {from: ci@example.org, to: nobody@example.org}
steps: [{name: a, command: "true", mailOn: {success: true}}]
`);
    const warnings = async (args: readonly string[]) => {
      const { code } = await own.run(...args).ended;
      const { stdout } = await own.call('status', '@latest', '--json');
      return { code, warnings: JSON.parse(stdout).warnings.sort() };
    };
    const local = await warnings([]);
    expect(local.warnings).toHaveLength(2);
    expect(await warnings(own.engine)).toEqual(local);
    expect((await own.call('run', 'work.yaml', ...own.engine, '--detach')).code).toBe(0);
    // Of one moment, either may end first.
    const detached = async () => JSON.parse((await own.call('status', '@latest', '--json')).stdout);
    await expect.poll(async () => (await detached()).status, { timeout: 60_000 }).toBe('succeeded');
    expect((await detached()).warnings.sort()).toEqual(local.warnings);
  });

  it('report a recovery that the caller has seen, and what is late', { timeout: 180_000 }, async () => {
    const { web } = await servers();
    const own = place(`
params: CODE=1
notify: [{to: webhook, url: "${web.url}/", on: [recovery, late]}]
steps: [{name: a, script: "sleep 4; exit $CODE", late: 1s}]
`);
    expect((await own.run(...own.engine).ended).code).toBe(1);
    expect((await own.run(...own.engine, '-p', 'CODE=0').ended).code).toBe(0);
    const events = web.received.map(({ body }) => JSON.parse(body).event);
    expect(events).toEqual(['late', 'late', 'recovery']);
  });

  it('are sent at most once: one that is lost with its worker is a warning', { timeout: 180_000 }, async () => {
    const web = await httpServer(() => {});
    const own = place(`
notify: [{to: webhook, url: "${web.url}/", on: success}]
steps: [{name: a, command: "true"}]
`);
    const run = own.run(...own.engine);
    await expect.poll(() => web.received.length).toBe(1);
    const [first] = workers.splice(0);
    first?.kill('SIGKILL');
    workers.push(await start('two'));
    const { code, stdout } = await run.ended;
    expect({ code, warned: stdout.includes('may not have been sent: the worker "one" was lost') }).toEqual({
      code: 0,
      warned: true,
    });
    expect(web.received).toHaveLength(1);
  });

  it('that hang end with a stop of the run that has ended', { timeout: 180_000 }, async () => {
    const web = await httpServer(() => {});
    const own = place(`
notify: [{to: webhook, url: "${web.url}/", on: success, timeoutSec: 30}]
steps: [{name: a, command: "true"}]
`);
    const run = own.run(...own.engine);
    await expect.poll(() => web.received.length).toBe(1);
    run.kill('SIGINT');
    const { code, stdout } = await run.ended;
    expect({ code, warned: stdout.includes('the run did not wait for it any longer') }).toEqual({
      code: 0,
      warned: true,
    });
  });
});
