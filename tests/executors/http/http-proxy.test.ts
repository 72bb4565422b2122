import { expect, test } from 'vitest';
import { proxyFor } from '#executors/http/http-request.ts';

test.each([
  ['http://example.com/', { HTTP_PROXY: 'http://p:1' }, 'http://p:1/'],
  ['http://example.com/', { HTTP_PROXY: 'http://no:1', http_proxy: 'http://p:1' }, 'http://p:1/'],
  ['http://example.com/', { HTTPS_PROXY: 'http://p:1' }, null],
  ['https://example.com/', { HTTPS_PROXY: 'p:1' }, 'http://p:1/'],
  ['https://example.com/', { HTTPS_PROXY: 'https://p' }, 'https://p/'],
  ['https://example.com/', { HTTPS_PROXY: '' }, null],
  ['https://example.com/', {}, null],
])('%s with %j', (url, env, expected) => {
  expect(proxyFor(new URL(url), env)?.href ?? null).toBe(expected);
});

test.each([
  ['http://example.com/', 'example.com', true],
  ['http://www.example.com/', 'example.com', true],
  ['http://www.example.com/', '.example.com', true],
  ['http://www.example.com/', '*.example.com', true],
  ['http://badexample.com/', 'example.com', false],
  ['http://EXAMPLE.com/', 'Example.COM', true],
  ['http://example.com/', 'a.com b.com,example.com', true],
  ['http://example.com/', 'example.com:80', true],
  ['http://example.com/', 'example.com:8080', false],
  ['https://example.com/', 'example.com:443', true],
  ['http://example.com/', '*', true],
  ['http://example.com/', '', false],
  ['http://127.0.0.1:3000/', '127.0.0.1', true],
  ['http://[::1]:3000/', '::1', true],
  ['http://[::1]:3000/', '[::1]', true],
  ['http://[::1]:3000/', '[::1]:3000', true],
  ['http://[::1]:3000/', '[::1]:3001', false],
])('%s and NO_PROXY %j: exempt is %s', (url, list, isExempt) => {
  const env = { http_proxy: 'http://p', https_proxy: 'http://p', NO_PROXY: list };
  expect(proxyFor(new URL(url), env) === null).toBe(isExempt);
});
