import { describe, expect, test } from 'vitest';
import { httpServer } from '../../support/http-server.ts';
import { failed } from '../attempt.ts';
import { answered, hook } from './http-call.ts';

function answering(status: number, body = 'thanks', headers = {}) {
  return httpServer((_request, response) => {
    response.sendDate = false;
    response.writeHead(status, { ...headers, 'Content-Length': body.length }).end(body);
  });
}

describe('a webhook', () => {
  test('is called with POST and the settings, variables replaced', async () => {
    const server = await answering(202);
    const { outcome, stdout, started } = await hook(
      {
        url: '${BASE}/hooks',
        timeout: 10,
        headers: { Authorization: 'Bearer ${TOKEN}', 'Content-Type': 'application/json' },
        query: { env: '$ENVIRONMENT' },
        body: '{"text":"$TEXT"}',
        successStatusCodes: [200, 202],
        silent: true,
      },
      { variables: { BASE: server.url, TOKEN: 't', ENVIRONMENT: 'prod', TEXT: '"quoted"\n' } },
    );
    expect({ outcome, stdout, started }).toEqual({ outcome: answered, stdout: 'thanks', started: [null] });
    expect(server.received).toMatchObject([
      {
        method: 'POST',
        url: '/hooks?env=prod',
        headers: { authorization: 'Bearer t', 'content-type': 'application/json', 'content-length': '23' },
        body: '{"text":"\\"quoted\\"\\n"}',
      },
    ]);
  });

  test('prints like an http step', async () => {
    const server = await answering(200);
    const { stdout } = await hook({ url: server.url, method: 'put' });
    expect(stdout).toBe('HTTP/1.1 200 OK\nContent-Length: 6\nConnection: close\n\nthanks');
    expect(server.received[0]?.method).toBe('PUT');
  });

  test.each([
    [200, undefined, true],
    [299, undefined, true],
    [300, undefined, false],
    [404, undefined, false],
    [404, [200, 404], true],
    [200, [202], false],
    [200, ['200'], true],
  ])('answered with %i succeeds or fails as "expect" %j says: %s', async (status, successStatusCodes, isSuccess) => {
    const server = await answering(status);
    const config = successStatusCodes === undefined ? {} : { successStatusCodes };
    const { outcome } = await hook({ url: server.url, ...config });
    const message = expect.stringMatching(new RegExp(`^POST ${server.url}/: ${status}`)) as unknown as string;
    expect(outcome).toEqual(isSuccess ? answered : failed('error', message));
  });

  test('names the expected statuses when another one arrives', async () => {
    const server = await answering(200);
    const { outcome } = await hook({ url: server.url, successStatusCodes: [201, 202] });
    const message = `POST ${server.url}/: 200 OK, but "successStatusCodes" allows only 201, 202`;
    expect(outcome).toEqual(failed('error', message));
  });

  test('that expects a redirect gets it, not its target', async () => {
    const server = await answering(302, '', { location: '/elsewhere' });
    expect((await hook({ url: server.url, successStatusCodes: [302] })).outcome).toEqual(answered);
    expect(server.received).toHaveLength(1);
  });

  test('also takes settings from a JSON script', async () => {
    const server = await answering(201);
    const script = '{"method": "PATCH", "successStatusCodes": [201], "body": {"a": ["$X"]}}';
    const { outcome } = await hook({ url: server.url }, { step: { script }, variables: { X: '1"' } });
    expect(outcome).toEqual(answered);
    expect(server.received[0]).toMatchObject({ method: 'PATCH', body: '{"a":["1\\""]}' });
  });

  test.each([
    [{ url: '$NONE' }, '"" is not a URL such as https://example.com/path'],
    [{ url: 'http://h/', successStatusCodes: ['ok'] }, '"successStatusCodes" must be a list of status codes'],
    [{ url: 'http://h/', method: 'GE T' }, '"GE T" is not a method such as GET or POST'],
  ])('%j is rejected', async (config, message) => {
    const { outcome, started } = await hook(config);
    expect({ outcome, started }).toEqual({ outcome: failed('error', message), started: [] });
  });
});
