import { expect, test } from 'vitest';
import type { JsonObject, Step } from '#core/workflow.ts';
import { stepTitle } from '#render/text/run-text.ts';
import { step } from '../../support/workflow.ts';

test.each([
  ['curl https://me:hunter2@example.com/a', 'curl https://me:***@example.com/a'],
  ['curl https://:hunter2@example.com', 'curl https://:***@example.com'],
  ['curl https://$USER:$PASSWORD@example.com', 'curl https://$USER:$PASSWORD@example.com'],
  ['curl https://me@example.com:8080/a:b@c', 'curl https://me@example.com:8080/a:b@c'],
])('%s shows no password', (command, title) => {
  expect(stepTitle(step('a', { command }))).toBe(title);
});

const executor = (type: string, config: JsonObject = {}) => ({ command: null, executor: { type, config } });

test.each<[Partial<Step>, string]>([
  [{ ...executor('terraform', { subcommand: 'apply', autoApprove: true }) }, 'terraform apply'],
  [{ ...executor('terraform', { binary: 'tofu', subcommand: 'state list' }), args: ['a b'] }, "tofu state list 'a b'"],
  [{ ...executor('terraform'), command: 'plan -lock=false' }, 'terraform plan -lock=false'],
  [{ ...executor('terraform', { init: true }) }, 'terraform init'],
  [{ ...executor('ansible', { playbook: 'site.yml' }) }, 'ansible-playbook site.yml'],
  [{ ...executor('ansible', { playbook: '$BOOK' }), command: ['-e', 'a=1'] }, 'ansible-playbook -e a=1 $BOOK'],
  [{ ...executor('workflow', { run: 'child', params: '' }) }, 'workflow: child'],
  [{ ...executor('workflow', { run: 'child', params: 'A=$X' }) }, 'workflow: child A=$X'],
  [{ ...executor('jq'), command: '.a', script: '{}' }, 'jq: .a: {}'],
  [{ ...executor('mail') }, 'mail'],
  [{ command: ['sh', '-c', 'echo $X', 'a b', '$X'] }, `sh -c 'echo $X' 'a b' "$X"`],
  [{ command: 'python3', script: '# one\nimport os\nprint()' }, 'python3: import os ...'],
])('%j is shown as %s', (settings, title) => {
  expect(stepTitle(step('a', settings))).toBe(title);
});
