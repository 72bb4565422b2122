import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startWf } from '../../support/wf.ts';
import { failed, succeeded, temporaryDirectory, until } from '../attempt.ts';
import { runDockerStep, startDockerStep } from './docker-step.ts';

/** The only container of a stand-in daemon. */
type Container = {
  /** Exit code in the answer to `wait`; absent: the container keeps running. */
  readonly exitCode?: number;
  readonly state: object;
  /** Answers queries for events of the container; without it they are an error. */
  readonly tellEvents?: (response: ServerResponse) => void;
};

type StandIn = {
  readonly host: string;
  /** The requests so far, except those of every run. */
  readonly asked: readonly string[];
  /** Closes pending waits for the container's end; later requests are answered. */
  readonly cutOff: () => void;
  /** Ends like a killed daemon: every connection is lost, and its address refuses new ones. */
  readonly die: () => void;
};

/** From the container's start until half a second after its end. */
const eventsOfMemory = 'GET /events?since=1000.25&until=1003&filters={"container":["c1"],"event":["oom"]}';

function forbid(response: ServerResponse): void {
  response.writeHead(403).end();
}

/** Starts a stand-in for Docker, for situations that a real daemon cannot be brought into. */
async function startStandIn({ exitCode, state, tellEvents = forbid }: Container): Promise<StandIn> {
  const asked: string[] = [];
  let waiting: ServerResponse | undefined;
  const answers: { readonly [request: string]: (response: ServerResponse) => unknown } = {
    'GET /_ping': (response) => response.setHeader('Api-Version', '1.45').end('OK'),
    'GET /info': (response) => response.end('{}'),
    'GET /containers/json': (response) => response.end('[]'),
    'GET /volumes': (response) => response.end('{"Volumes":[]}'),
    'GET /images/wf-test:1/json': (response) => response.end('{"Config":{}}'),
    'POST /containers/create': (response) => response.writeHead(201).end('{"Id":"c1"}'),
    'POST /containers/c1/attach': (response) => response.end(),
    'POST /containers/c1/start': (response) => response.writeHead(204).end(),
    'POST /containers/c1/wait': (response) => {
      waiting = response;
      // Send the head at once, and the rest when the container ends.
      response.flushHeaders();
      if (exitCode !== undefined) response.end(JSON.stringify({ StatusCode: exitCode }));
    },
    'GET /containers/c1/json': (response) =>
      response.end(JSON.stringify({ State: state, HostConfig: { Memory: 16 * 1024 ** 2 } })),
    [eventsOfMemory]: tellEvents,
    'DELETE /containers/c1': (response) => response.writeHead(204).end(),
  };
  const server = createServer((request, response) => {
    const url = decodeURIComponent(request.url ?? '').replace(/&?abortSignal=\{\}/, '');
    const key = `${request.method} ${url.startsWith('/events') ? url : url.replace(/\?.*/, '')}`;
    if (key.includes('c1')) asked.push(key);
    const answer = answers[key] ?? ((other) => other.writeHead(404).end('{"message":"not found"}'));
    answer(response);
  });
  const die = () => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(die);
  const path = join(temporaryDirectory(), 'docker.sock');
  server.listen(path);
  await once(server, 'listening');
  return { host: `unix://${path}`, asked, die, cutOff: () => waiting?.destroy() };
}

const isWaitedFor = ({ asked }: StandIn) => asked.includes('POST /containers/c1/wait');
const running = { Running: true, OOMKilled: false, ExitCode: 0 };
const times = { StartedAt: '1970-01-01T00:16:40.25Z', FinishedAt: '1970-01-01T00:16:42.5Z' };
const ended = { Running: false, OOMKilled: false, ExitCode: 0, ...times };

test('a daemon that dies while a container runs fails the step', async () => {
  const daemon = await startStandIn({ state: running });
  const step = startDockerStep({ host: daemon.host, step: { command: 'sleep 1000' } });
  await until(() => isWaitedFor(daemon));
  daemon.die();
  // The system's message depends on which connection is tried.
  const message = expect.stringMatching(/^the connection to Docker was lost \(.+\)$/);
  expect(await step.running).toEqual({ ...failed('error', ''), message });
  expect(step.stderr()).toMatch(/^container c1 could not be removed: the connection to Docker was lost .*\n$/);
});

test('a daemon that dies while a container runs fails the run, which finishes like any failed run', async () => {
  const daemon = await startStandIn({ state: running });
  const cwd = temporaryDirectory();
  const executor = { type: 'docker', config: { image: 'wf-test:1' } };
  const steps = [{ name: 'long', executor, command: 'sleep 1000' }];
  writeFileSync(join(cwd, 'flow.yaml'), JSON.stringify({ steps, handlerOn: { failure: { command: 'echo handled' } } }));
  const run = startWf(['run', 'flow.yaml'], { cwd, env: { WF_HOME: join(cwd, 'home'), DOCKER_HOST: daemon.host } });
  onTestFinished(() => run.kill('SIGKILL'));
  await Promise.race([until(() => isWaitedFor(daemon)), run.ended]);
  daemon.die();
  const { code, stdout } = await run.ended;
  expect(code).toBe(1);
  expect(stdout).toContain('the connection to Docker was lost');
  expect(stdout).toContain('| handled\n');
});

test('a container that ended while the connection was lost has its own outcome', async () => {
  const daemon = await startStandIn({ state: { ...ended, ExitCode: 3 } });
  const step = startDockerStep({ host: daemon.host, step: { command: 'sleep 1000' } });
  await until(() => isWaitedFor(daemon));
  daemon.cutOff();
  expect(await step.running).toEqual(failed('exit', 'exit 3', 3));
});

test('a container that keeps running while the connection is lost fails the step, and is removed', async () => {
  const daemon = await startStandIn({ state: running });
  const step = startDockerStep({ host: daemon.host, step: { command: 'sleep 1000' } });
  await until(() => isWaitedFor(daemon));
  daemon.cutOff();
  expect(await step.running).toEqual(failed('error', 'the connection to Docker was lost (aborted)'));
  expect(daemon.asked.at(-1)).toBe('DELETE /containers/c1');
});

test('a container that ran out of memory is reported, even if the daemon reports it after the end', async () => {
  // Never ends: the first event is enough.
  const tellEvents = (response: ServerResponse) => void response.write('{"status":"oom","id":"c1"}\n');
  const daemon = await startStandIn({ exitCode: 137, state: ended, tellEvents });
  const { outcome } = await runDockerStep({ host: daemon.host, step: { command: 'hungry' } });
  expect(outcome).toEqual(failed('exit', 'exit 137: out of memory (the limit is 16 MiB)', 137));
});

test.each<[string, Container['tellEvents'] & {}]>([
  ['nothing happened to it', (response) => response.end()],
  ['it must not be queried', forbid],
  ['the connection is lost', (response) => response.destroy()],
])('a killed container is reported as killed where %s', async (_, tellEvents) => {
  const daemon = await startStandIn({ exitCode: 137, state: ended, tellEvents });
  const { outcome } = await runDockerStep({ host: daemon.host, step: { command: 'killed' } });
  expect(outcome).toEqual(failed('exit', 'exit 137: killed (SIGKILL)', 137));
  expect(daemon.asked).toContain(eventsOfMemory);
});

test.each([
  [0, ended, succeeded],
  [1, ended, failed('exit', 'exit 1', 1)],
  [137, { ...ended, OOMKilled: true }, failed('exit', 'exit 137: out of memory (the limit is 16 MiB)', 137)],
])('a container whose end with %d is clear is not queried for its cause', async (exitCode, state, outcome) => {
  const daemon = await startStandIn({ exitCode, state });
  const step = await runDockerStep({ host: daemon.host, step: { command: 'x' } });
  expect(step.outcome).toEqual(outcome);
  expect(daemon.asked).not.toContain(eventsOfMemory);
});
