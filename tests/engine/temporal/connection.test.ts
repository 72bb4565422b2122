import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { failAfterClose, packages } from '#engine/temporal/connection.ts';
import { closedPort } from '../../support/http-server.ts';

it('a call that the library repeats after the connection was closed fails, and nothing else', async () => {
  const { Connection } = await packages.client();
  const address = `127.0.0.1:${await closedPort()}`;
  const thrown: unknown[] = [];
  const onThrown = (error: unknown) => thrown.push(error);
  process.on('uncaughtExceptionMonitor', onThrown);
  try {
    const connection = Connection.lazy({ address, interceptors: [failAfterClose] });
    // Refused, so it is repeated after about 100 ms.
    const call = connection.workflowService.getSystemInfo({}).catch((error: unknown) => error);
    await delay(20);
    await connection.close();
    expect(await call).toBeInstanceOf(Error);
    expect(thrown).toEqual([]);
  } finally {
    process.off('uncaughtExceptionMonitor', onThrown);
  }
});
