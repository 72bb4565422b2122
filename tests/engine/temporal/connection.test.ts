import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ifGone, interceptorsOf, packages } from '#engine/temporal/connection.ts';
import { closedPort } from '../../support/http-server.ts';

it('calls that begin or are repeated after the connection was closed fail, and nothing is thrown', async () => {
  const { Connection, ...client } = await packages.client();
  const address = `127.0.0.1:${await closedPort()}`;
  const thrown: unknown[] = [];
  const onThrown = (error: unknown) => thrown.push(error);
  process.on('uncaughtExceptionMonitor', onThrown);
  try {
    const connection = Connection.lazy({ address, interceptors: interceptorsOf(client) });
    // Refused, so it is repeated after about 100 ms.
    const call = connection.workflowService.getSystemInfo({}).catch((error: unknown) => error);
    await delay(20);
    await connection.close();
    expect(await call).toMatchObject({ code: 1 });
    const later = connection.workflowService.getSystemInfo({}).catch((error: unknown) => error);
    expect(await later).toMatchObject({ code: 1 });
    expect(thrown).toEqual([]);
  } finally {
    process.off('uncaughtExceptionMonitor', onThrown);
  }
});

it('a run is gone if the engine does not know it, not if the engine does not know its namespace', () => {
  const gone = Object.assign(new Error('5 NOT_FOUND: workflow not found for ID: namespace-1'), { code: 5 });
  expect(ifGone('gone')(gone)).toBe('gone');
  const starting = Object.assign(new Error('5 NOT_FOUND: Namespace default is not found.'), { code: 5 });
  expect(() => ifGone('gone')(starting)).toThrow(starting);
});
