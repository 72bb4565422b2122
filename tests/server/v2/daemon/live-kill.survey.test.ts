import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withDaemons } from '../../../support/daemon.ts';
import { openStream, type Stream } from '../../../support/stream-client.ts';

const gated = `params: DIR=
steps:
  - name: one
    command: sh -c 'echo one; until [ -e "$DIR/go" ]; do sleep 0.02; done'
  - {name: two, command: echo two, depends: one}
`;

test('after a kill of the daemon its clients get "reset" from the next one, and then new events', async () => {
  await withDaemons({ 'gated.yaml': gated }, async ({ serve, cwd }) => {
    const first = await serve();
    await fetch(`${first.url}/api/v2/workflows/gated/runs`, {
      method: 'POST',
      body: new URLSearchParams({ runId: 'r', params: `DIR=${cwd}` }),
    });
    const before = await openStream(addressOf(first.url), '/api/v2/events?run=r');
    await before.until('"stream":"output","size":4');
    await first.end('SIGKILL');
    expect(await before.ended).toBe('broken');

    const second = await serve();
    const after = await openStream(addressOf(second.url), '/api/v2/events?run=r', { 'Last-Event-ID': lastId(before) });
    await after.until('event: reset\ndata: {"why":"unknown"}');
    writeFileSync(join(cwd, 'go'), '');
    await after.until('"name":"two","status":"succeeded"');
    await after.until('"status":"succeeded","reason":null,"error":null,"trigger"');
    const again = await openStream(addressOf(second.url), `/api/v2/events?run=r&follow=false&after=${lastId(after)}`);
    await again.ended;
    expect(again.text()).not.toMatch(/event: (reset|run|step)\n/);
    after.leave();
    await second.end('SIGTERM');
  });
});

function addressOf(url: string): Parameters<typeof openStream>[0] {
  const { hostname: host, port } = new URL(url);
  return { address: { host, port: Number(port) } };
}

function lastId(stream: Stream): string {
  return [...stream.text().matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '';
}
