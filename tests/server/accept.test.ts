import { expect, test } from 'vitest';
import { prefers } from '#server/reply/send.ts';

test.each([
  [undefined, 'json'],
  ['', 'json'],
  ['*/*', 'json'],
  ['text/html', 'json'],
  ['application/json', 'json'],
  ['application/json, text/plain, */*', 'json'],
  ['application/*', 'json'],
  ['text/yaml;q=0', 'json'],
  ['text/yaml;q=0, application/json;q=0', 'json'],
  ['text/yaml;q=0.8, application/json', 'json'],
  ['text/yaml;q=0.8, */*', 'json'],
  ['text/yaml;q=0.5, text/*;q=0.9, application/json;q=0.7', 'json'],
  ['text/yaml', 'yaml'],
  ['APPLICATION/YAML', 'yaml'],
  ['text/yaml, */*', 'yaml'],
  ['application/json, text/yaml', 'yaml'],
  ['text/*', 'yaml'],
  ['application/json;q=0.5, application/yaml', 'yaml'],
  ['application/json; charset=utf-8; q=0.5 , application/yaml ; q=0.501', 'yaml'],
  ['application/json;q=0, */*;q=0.1', 'yaml'],
  ['text/yaml;q=much, application/json;q=0.9', 'yaml'],
] as const)('"Accept: %j" selects %s', (accept, form) => {
  const isYaml = prefers(accept, ['text/yaml', 'application/yaml'], ['application/json']);
  expect(isYaml ? 'yaml' : 'json').toBe(form);
});
