import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runs, until } from '../executors/attempt.ts';
import { crash, type Place, withPlace } from '../support/past-runs.ts';

/** A program that says when it is up, and ends by SIGTERM with a code of its own. */
const up = `sh -c 'echo $$ >> pids; echo up; trap "echo $WF_STEP ends; exit 3" TERM; while :; do sleep 0.02; done'`;
const ready = '{readyWhen: {line: up}, intervalSec: 0.02}';

/** A command that waits until the run has stored an event of the service `a`. */
const untilStored = (type: string) =>
  `until grep -q '"type":"${type}",.*"step":"a"' "\${WF_LOG_FILE%/*}/../journal.jsonl"; do sleep 0.02; done`;

/** Uses a place with a workflow of these steps. */
const place = (steps: string, use: (place: Place) => Promise<void>) => withPlace({ 'w.yaml': `steps:\n${steps}` }, use);

/** How a run of it went. */
async function run({ wf, json }: Place, ...words: readonly string[]) {
  const { code, stdout } = await wf(...(words.length > 0 ? words : ['run', 'w.yaml']), '--reporter', 'plain');
  const status = await json('status', '@latest');
  return { code, stdout, status, steps: status.steps.map(({ name, status }) => `${name} ${status}`) };
}

describe('a service', () => {
  it('is ready before its dependents start, and ends after them, before the handlers', () =>
    place(
      `
  - {name: db, service: ${ready}, command: ${JSON.stringify(up)}}
  - {name: web, service: ${ready}, depends: db, command: ${JSON.stringify(up)}}
  - {name: test, depends: web, command: echo tested}
handlerOn: {exit: {command: echo handled}}`,
      async (place) => {
        const { code, stdout, status, steps } = await run(place);
        expect({ code, steps }).toEqual({ code: 0, steps: ['db succeeded', 'web succeeded', 'test succeeded'] });
        expect(stdout).toMatch(
          /\[db\].* READY[\s\S]*\[web\].* READY[\s\S]*\| tested[\s\S]*web ends[\s\S]*db ends[\s\S]*handled/,
        );
        expect(status.steps.map(({ service, exitCode }) => [service?.ready, exitCode])).toEqual([
          [true, 3],
          [true, 3],
          [undefined, 0],
        ]);
        for (const pid of pidsIn(place)) expect(runs(pid)).toBe(false);
      },
    ));

  it.each([
    ['command: test -f made', 'touch made; exec sleep 60'],
    ['port: $PORT', 'exec node -e "require(\'net\').createServer().listen($PORT)"'],
    [
      'http: "http://127.0.0.1:$PORT/x"',
      'exec node -e "require(\'http\').createServer((q, a) => a.end()).listen($PORT)"',
    ],
  ])('is ready by %s', async (readyWhen, script) => {
    const port = await freePort();
    await place(
      `
  - {name: a, service: {readyWhen: {${readyWhen}}, intervalSec: 0.05}, script: ${JSON.stringify(script)}}
  - {name: b, depends: a, command: echo b}
env: [PORT: "${port}"]`,
      async (place) => expect(await run(place)).toMatchObject({ code: 0, steps: ['a succeeded', 'b succeeded'] }),
    );
  });

  it('that is not ready in time fails with the reason', async () => {
    const port = await freePort();
    await place(
      `
  - {name: a, service: {readyWhen: {port: "127.0.0.1:${port}"}, intervalSec: 0.05, timeoutSec: 0.2}, command: sleep 60}
  - {name: b, depends: a, command: echo b}`,
      async (place) => {
        const { code, status, steps } = await run(place);
        expect({ code, steps }).toEqual({ code: 1, steps: ['a failed', 'b upstream_failed'] });
        expect(status.steps[0]).toMatchObject({
          reason: 'unready',
          error: 'not ready within 0.2s: connection refused',
          service: { ready: false },
        });
      },
    );
  });

  it.each([
    ['line: "re:$PATTERN"', '"re:(" is not a regular expression: missing closing ): `(`'],
    ['http: "http://127.0.0.1:${JSON.port}/"', '"${JSON.port}": JSON has no "port" (it has a)'],
  ])('does not start if its condition cannot be evaluated: %s', (readyWhen, error) =>
    place(
      `
  - {name: a, service: {readyWhen: {${readyWhen}}}, command: touch started}
  - {name: b, depends: a, command: echo b}
env: [PATTERN: "(", JSON: '{"a": 1}']`,
      async (place) => {
        const { code, status, steps } = await run(place);
        expect({ code, steps }).toEqual({ code: 1, steps: ['a failed', 'b upstream_failed'] });
        expect(status.steps[0]).toMatchObject({ reason: 'error', error });
        expect(existsSync(join(place.cwd, 'started'))).toBe(false);
      },
    ),
  );

  it('does not mistake the port of another program for its own', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as { readonly port: number };
    try {
      await place(
        `  - {name: a, service: {readyWhen: {port: "127.0.0.1:${port}"}}, command: touch started; sleep 60}`,
        async (place) => {
          const { status } = await run(place);
          expect(status.steps[0]).toMatchObject({ reason: 'error', error: `port 127.0.0.1:${port} is already taken` });
          expect(existsSync(join(place.cwd, 'started'))).toBe(false);
        },
      );
    } finally {
      server.close();
    }
  });

  it('that ends while a step needs it fails, and the step continues', () =>
    place(
      `
  - {name: a, service: ${ready}, command: "echo up; while [ ! -f end ]; do sleep 0.02; done"}
  - {name: b, depends: a, command: ${JSON.stringify(`touch end; ${untilStored('step.finished')}; echo b`)}}
  - {name: c, depends: [a, b], command: echo c}`,
      async (place) => {
        const { code, status, steps } = await run(place);
        expect({ code, steps }).toEqual({ code: 1, steps: ['a failed', 'b succeeded', 'c upstream_failed'] });
        expect(status.steps[0]).toMatchObject({ exitCode: 0, error: 'ended while "b" needs it' });
      },
    ));

  it('is restarted by its retry policy', () =>
    place(
      `
  - {name: a, service: ${ready}, retryPolicy: {limit: 1}, command: "echo up; [ -f again ] && exec sleep 60; while [ ! -f end ]; do sleep 0.02; done; touch again; exit 4"}
  - {name: b, depends: a, command: ${JSON.stringify(`touch end; ${untilStored('step.waiting')}`)}}
  - {name: c, depends: [a, b], command: test -f again}`,
      async (place) => {
        const { code, status, steps } = await run(place);
        expect({ code, steps }).toEqual({ code: 0, steps: ['a succeeded', 'b succeeded', 'c succeeded'] });
        expect(status.steps[0]?.attempts).toBe(2);
      },
    ));

  it('that ignores the signal is killed after the grace, with a warning', () =>
    place(
      `
  - {name: a, service: ${ready}, command: "trap '' TERM; echo up; while :; do sleep 0.02; done"}
  - {name: b, depends: a, command: echo b}
MaxCleanUpTimeSec: 0.1`,
      async (place) => {
        const { code, status, steps } = await run(place);
        expect({ code, steps }).toEqual({ code: 0, steps: ['a succeeded', 'b succeeded'] });
        expect(status.warnings).toEqual(['a: killed: it did not end within 0.1s']);
      },
    ));

  it('ends after the other steps when the run is stopped', () =>
    place(
      `
  - {name: a, service: ${ready}, command: ${JSON.stringify(up)}}
  - {name: b, depends: a, command: "trap 'echo b ends; exit 1' TERM; echo started; while :; do sleep 0.02; done"}`,
      async (place) => {
        const running = place.start('run', 'w.yaml', '--reporter', 'plain');
        await running.until('| started');
        running.kill('SIGTERM');
        const { code, stdout } = await running.ended;
        expect(code).toBe(143);
        expect(stdout).toMatch(/\| b ends[\s\S]*\| a ends/);
        const { steps } = await place.json('status', '@latest');
        expect(steps.map(({ name, status }) => [name, status])).toEqual([
          ['a', 'succeeded'],
          ['b', 'canceled'],
        ]);
      },
    ));

  it('without steps runs until it is stopped', () =>
    place(`  - {name: a, service: ${ready}, command: ${JSON.stringify(up)}}`, async (place) => {
      const running = place.start('run', 'w.yaml', '--reporter', 'plain');
      await running.until('READY');
      running.kill('SIGINT');
      expect((await running.ended).code).toBe(130);
      for (const pid of pidsIn(place)) expect(runs(pid)).toBe(false);
    }));

  it('of a killed owner is ended, and a retry starts it for the remaining steps', () =>
    place(
      `
  - {name: a, service: ${ready}, command: ${JSON.stringify(up)}}
  - {name: b, depends: a, command: echo once >> b}
  - {name: c, depends: [a, b], command: "test -f again && echo c || { touch again; echo wait; sleep 60; }"}`,
      async (place) => {
        await crash(place, '| wait', 'w.yaml', '--reporter', 'plain');
        const lost = await place.json('status', '@latest');
        expect(lost.steps.map(({ name, status, reason }) => [name, status, reason])).toEqual([
          ['a', 'failed', 'lost'],
          ['b', 'succeeded', null],
          ['c', 'failed', 'lost'],
        ]);
        const pids = pidsIn(place);
        await until(() => pids.every((pid) => !runs(pid)));
        const { code, steps } = await run(place, 'retry', '@latest');
        expect({ code, steps }).toEqual({ code: 0, steps: ['a succeeded', 'b succeeded', 'c succeeded'] });
        expect(readFileSync(join(place.cwd, 'b'), 'utf8')).toBe('once\n');
      },
    ));
});

function pidsIn({ cwd }: Place): readonly number[] {
  return readFileSync(join(cwd, 'pids'), 'utf8').trim().split('\n').map(Number);
}

/** A port of this machine that nothing listens at. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { readonly port: number };
      server.close(() => resolve(port));
    });
  });
}
