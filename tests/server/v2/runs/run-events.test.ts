import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { StoredEvent } from '#core/run/run.ts';
import { createRunFeeds } from '#daemon/live-changes.ts';
import { allRoutes } from '#server/routes.ts';
import { apiServer } from '../../../support/api-server.ts';
import { type ApiWorld, apiWorld } from '../../../support/api-world.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { openStream } from '../../../support/stream-client.ts';

/** Steps that wait for a file. */
const gated = `params: DIR=
steps:
  - name: one
    command: sh -c 'echo one; until [ -e "$DIR/go1" ]; do sleep 0.02; done'
  - name: two
    command: sh -c 'echo two; until [ -e "$DIR/go2" ]; do sleep 0.02; done'
    depends: one
`;
const loopLag = () => ({ mean: 0, p99: 0, max: 0 });

test('the stream has past events, new events and an "end"', async () => {
  const world = await gatedWorld();
  const stream = await openStream(world, '/api/v2/runs/r/events');

  expect(stream.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
  });
  await stream.until('"step":"one","attempt":1,"process"');
  expect(stream.text()).not.toContain('step.finished');
  go(world, 1);
  await stream.until('"step":"two","attempt":1,"process"');
  go(world, 2);
  expect(await stream.ended).toBe('whole');
  expect(typesOf(stream.text())).toEqual([...(await journal(world)).map(({ type }) => type), 'end']);
  expect(idsOf(stream.text())).toEqual((await journal(world)).map(({ seq }) => seq));
});

test('a client that reconnects receives each missed event once, then 204', async () => {
  const world = await gatedWorld();
  const first = await openStream(world, '/api/v2/runs/r/events');
  await first.until('"step":"one","attempt":1,"process"');
  first.leave();
  const last = idsOf(first.text()).at(-1) ?? 0;
  go(world, 1);
  go(world, 2);
  await world.runs.settled();

  const second = await openStream(world, '/api/v2/runs/r/events?after=1', { 'Last-Event-ID': String(last) });
  await second.ended;
  expect([...idsOf(first.text()), ...idsOf(second.text())]).toEqual((await journal(world)).map(({ seq }) => seq));
  const end = (await journal(world)).length;
  expect((await openStream(world, '/api/v2/runs/r/events', { 'Last-Event-ID': String(end) })).status).toBe(204);
  expect((await world.ask('HEAD', '/api/v2/runs/r/events')).status).toBe(200);
});

test('a comment is sent every 15 seconds, and no timer remains after a disconnect', async () => {
  const { app, ...world } = await gatedWorld();
  const clock = createFakeClock();
  const server = await apiServer(allRoutes({ ...app, clock, loopLag }));
  const stream = await openStream(server, '/api/v2/runs/r/events');
  await stream.until('step.started');

  clock.advance(14_999);
  expect(stream.text()).not.toContain('still here');
  clock.advance(1);
  await stream.until(': still here\n\n');
  clock.advance(15_000);
  await expect.poll(() => stream.text().split(': still here').length).toBe(3);
  stream.leave();
  await expect.poll(() => clock.pending()).toBe(0);
  finish(world);
});

test('all followers share one reader of the journal, which stops with the last of them', async () => {
  const { app, ...world } = await gatedWorld();
  const looks = { begun: 0, going: 0 };
  const feeds = createRunFeeds({
    follow: async function* (run, signal) {
      looks.begun += 1;
      looks.going += 1;
      try {
        yield* app.history.follow(run, signal);
      } finally {
        looks.going -= 1;
      }
    },
  });
  const server = await apiServer(allRoutes({ ...app, feeds, loopLag }));
  const streams = await Promise.all(Array.from({ length: 40 }, () => openStream(server, '/api/v2/runs/r/events')));
  await Promise.all(streams.map((stream) => stream.until('step.started')));
  go(world, 1);
  await Promise.all(streams.map((stream) => stream.until('"step":"two","attempt":1,"process"')));

  expect(looks).toEqual({ begun: 1, going: 1 });
  expect(new Set(streams.map((stream) => stream.text())).size).toBe(1);
  for (const stream of streams) stream.leave();
  await expect.poll(() => looks.going).toBe(0);
  const again = await openStream(server, '/api/v2/runs/r/events?after=3');
  await again.until('step.scheduled');
  expect(looks).toEqual({ begun: 2, going: 1 });
  again.leave();
  finish(world);
});

test('a client that does not read is sent no more than fits, and is disconnected after a minute', async () => {
  const { app, ask, runs } = await apiWorld({ 'loud.yaml': loud(80) });
  await ask('POST', '/api/v2/workflows/loud/runs', { body: { runId: 'r' } });
  await runs.settled();
  const clock = createFakeClock();
  let told = 0;
  const feeds: typeof app.feeds = {
    follow: async function* (...given) {
      for await (const events of app.feeds.follow(...given)) {
        for (const event of events) {
          told += 1;
          yield [event];
        }
      }
    },
  };
  const server = await apiServer(allRoutes({ ...app, feeds, clock, loopLag }));
  const stream = await openStream(server, '/api/v2/runs/r/events');
  stream.message.pause();
  const total = (await journal({ app })).length;

  // One timer is the heartbeat, the other the time limit for a client that does not read.
  await expect.poll(() => clock.pending()).toBe(2);
  expect(told).toBeLessThan(total / 2);
  clock.advance(60_000);
  await expect.poll(() => clock.pending()).toBe(0);
  stream.message.resume();
  expect(await stream.ended).toBe('broken');
});

test('streams end without "end" when the server closes, so that clients reconnect', async () => {
  const { app, ...world } = await gatedWorld();
  const server = await apiServer(allRoutes({ ...app, loopLag }));
  const stream = await openStream(server, '/api/v2/runs/r/events');
  await stream.until('step.started');

  await server.close();
  await stream.ended;
  expect(typesOf(stream.text())).not.toContain('end');
  finish(world);
});

async function gatedWorld(): Promise<ApiWorld> {
  const world = await apiWorld({ 'gated.yaml': gated });
  const { status } = await world.ask('POST', '/api/v2/workflows/gated/runs', {
    body: { runId: 'r', params: { DIR: world.directory } },
  });
  expect(status).toBe(201);
  return world;
}

function go({ directory }: Pick<ApiWorld, 'directory'>, step: 1 | 2): void {
  writeFileSync(join(directory, `go${step}`), '');
}

/** The world waits for its runs. */
function finish(world: Pick<ApiWorld, 'directory'>): void {
  go(world, 1);
  go(world, 2);
}

/** A workflow with this number of steps, each with an output of 200 KB. */
function loud(steps: number): string {
  const each = Array.from(
    { length: steps },
    (_, i) => `  - {name: s${i}, command: "head -c 200000 /dev/zero | tr '\\\\0' x", output: O${i}}`,
  );
  return `maxActiveSteps: 4\nsteps:\n${each.join('\n')}\n`;
}

async function journal({ app }: Pick<ApiWorld, 'app'>): Promise<readonly StoredEvent[]> {
  return (await app.history.read('r'))?.stored?.events ?? [];
}

function typesOf(text: string): readonly string[] {
  return [...text.matchAll(/^event: (.*)$/gm)].map(([, type]) => type ?? '');
}

function idsOf(text: string): readonly number[] {
  return [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
}
