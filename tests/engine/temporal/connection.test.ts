import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ifGone, interceptorsOf, packages } from '#engine/temporal/connection.ts';
import { type Connected, readHistory } from '#engine/temporal/history.ts';
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

it('many histories wait with one signal, without a warning of Node', async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => warnings.push(name);
  process.on('warning', onWarning);
  const end = new AbortController();
  const connection = {
    // Not called: each call waits for its signal.
    workflowService: Object.create(null) as Connected['workflowService'],
    withDeadline: <T>(_: number, call: () => Promise<T>) => call(),
    withAbortSignal: <T>(own: AbortSignal) =>
      new Promise<T>((_, reject) => own.addEventListener('abort', () => reject(new Error('aborted')), { once: true })),
  };
  try {
    const reads = Array.from({ length: 20 }, (_, run) =>
      readHistory(
        { connection, namespace: 'default' },
        { workflowId: `${run}`, runId: '' },
        { after: 0, until: end.signal },
      )
        .next()
        .catch((error: unknown) => String(error)),
    );
    await delay(0);
    end.abort();
    expect(new Set(await Promise.all(reads))).toEqual(new Set(['Error: aborted']));
    await delay(0);
    expect(warnings).toEqual([]);
  } finally {
    process.off('warning', onWarning);
  }
});
