import { expect, it } from 'vitest';
import { engineAddress } from '#system/engine-address.ts';

it.each([
  ['temporal:', { address: null, namespace: null }],
  ['temporal://127.0.0.1:7233', { address: '127.0.0.1:7233', namespace: null }],
  ['temporal://[::1]:7233', { address: '[::1]:7233', namespace: null }],
  ['temporal://temporal.example.com:7233/prod', { address: 'temporal.example.com:7233', namespace: 'prod' }],
])('reads %s', (text, address) => {
  expect(engineAddress(text)).toEqual(address);
});

it.each(['local', 'temporal', 'temporal://', 'temporal://host', 'temporal://host:1/a/b', 'http://host:1'])(
  'refuses %s',
  (text) => {
    expect(engineAddress(text)).toBeNull();
  },
);
