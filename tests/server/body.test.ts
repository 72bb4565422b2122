import { expect, test } from 'vitest';
import type { Route } from '#server/route.ts';
import { type ApiServer, apiServer, jsonOf, type Sent } from '../support/api-server.ts';

test('a JSON body is parsed', async () => {
  expect(await read('json', { body: { a: [1, null, 'ü'] } })).toEqual({ a: [1, null, 'ü'] });
});

test('a form is parsed into fields, the first of each name', async () => {
  const body = new URLSearchParams([
    ['action', 'start'],
    ['params', 'A=1 B="x & y" ü'],
    ['action', 'stop'],
    ['__proto__', 'x'],
  ]);

  expect(await read('form-or-json', { body })).toEqual(
    JSON.parse('{"action":"start","params":"A=1 B=\\"x & y\\" ü","__proto__":"x"}'),
  );
});

test('a multipart form is accepted if all of its parts are texts', async () => {
  const headers = { 'Content-Type': 'multipart/form-data; boundary=xx' };
  const part = (head: string, text: string) => `--xx\r\nContent-Disposition: form-data; ${head}\r\n\r\n${text}\r\n`;
  const texts = part('name="action"', 'start') + part('name="params"', 'a\r\nb ü');
  const file = part('name="params"; filename="x"', 'content');

  expect(await read('form-or-json', { headers, body: `${texts}--xx--\r\n` })).toEqual({
    action: 'start',
    params: 'a\r\nb ü',
  });
  expect(await read('form-or-json', { headers, body: `${texts}${file}--xx--\r\n` })).toMatchObject({
    code: 400,
    message: 'the field "params" of the form must be a text, not a file',
  });
});

test('a text is returned unchanged, and another media type is rejected', async () => {
  const headers = { 'Content-Type': 'Text/YAML; charset="UTF-8"' };

  expect(await read('text', { headers, body: 'a: ü\n' })).toBe('a: ü\n');
  expect(await read('text', { body: { a: 1 } })).toMatchObject({ code: 415 });
});

test('an empty body is undefined, whatever the media type', async () => {
  expect(await read('json', { headers: { 'Content-Type': 'application/json' } })).toBe('undefined');
  expect(await read('form-or-json', { headers: { 'Content-Type': 'image/png' }, body: '' })).toBe('undefined');
});

test('a body is ignored by a route that takes none', async () => {
  expect(await read('none', { headers: { 'Content-Type': 'image/png' }, body: 'x' })).toBe('undefined');
});

test('bytes that are not UTF-8 are rejected', async () => {
  const { raw, address } = await echo('json');
  const head = `POST /it HTTP/1.1\r\nHost: localhost:${address.port}\r\nConnection: close\r\n`;
  const rest = 'Content-Type: text/plain\r\nContent-Length: 1\r\n\r\n';
  const answer = await raw(
    Buffer.concat([Buffer.from(head + rest.replace('text/plain', 'application/json')), Buffer.of(0xff)]),
  );

  expect(answer).toContain('the body is not UTF-8');
});

async function read(kind: Route['body'], sent: Sent): Promise<unknown> {
  const { ask } = await echo(kind);
  return jsonOf<unknown>(await ask('POST', '/it', sent));
}

function echo(kind: Route['body']): Promise<ApiServer> {
  return apiServer([
    {
      method: 'POST',
      path: '/it',
      access: 'write',
      body: kind,
      errors: 'v1',
      handle: ({ body }) => ({ status: 200, body: JSON.stringify(body === undefined ? 'undefined' : body) }),
    },
  ]);
}
