import { expect, test } from 'vitest';
import { stepTitle } from '../../../src/render/text/step-text.ts';
import { step } from '../../support/workflow.ts';

test.each([
  ['curl https://me:hunter2@example.com/a', 'curl https://me:***@example.com/a'],
  ['curl https://:hunter2@example.com', 'curl https://:***@example.com'],
  ['curl https://$USER:$PASSWORD@example.com', 'curl https://$USER:$PASSWORD@example.com'],
  ['curl https://me@example.com:8080/a:b@c', 'curl https://me@example.com:8080/a:b@c'],
])('%s shows no password', (command, title) => {
  expect(stepTitle(step('a', { command }))).toBe(title);
});
