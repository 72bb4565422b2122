import { describe, expect, it } from 'vitest';
import { codesOf } from './load-text.ts';

describe('a quote that is closed only in another shell is not reported', () => {
  it.each([
    ['of the workflow', "shell: /usr/bin/fish\nsteps:\n  - {name: a, command: echo 'it\\'s'}\n"],
    ['of the step', "steps:\n  - {name: a, shell: fish -C x, command: echo 'it\\'s'}\n"],
    [
      'of the step that calls a function',
      "functions: [{name: f, command: echo 'it\\'s'}]\nsteps: [{name: a, shell: fish, call: {function: f}}]\n",
    ],
  ])('%s', (_name, yaml) => {
    expect(codesOf(yaml)).toEqual([]);
  });
});
