import { describe, expect, it } from 'vitest';
import { locateSteps } from '#language/locate.ts';

const root = {
  path: '/root.yaml',
  text: 'steps:\n  - name: first one\n    command: x\n  - {id: two, command: x}\nhandler_on:\n  Exit:\n    command: x\n',
};
const imported = { path: '/part.yaml', text: 'steps:\r\n  three:\r\n    command: x\r\n  two: {}\r\n' };

describe('the position of a step', () => {
  it('is found in the files, the root first', () => {
    const names = ['first one', 'two', 'three', 'handlerOn.exit', 'nowhere'];
    const places = [...locateSteps([root, imported], names)].map(([name, { file, start, end }]) => {
      return `${name} ${file}:${start.line}:${start.column}-${end.line}:${end.column}`;
    });
    expect(places).toEqual([
      'first one /root.yaml:2:5-2:20',
      'two /root.yaml:4:5-4:26',
      'handlerOn.exit /root.yaml:6:3-6:8',
      'three /part.yaml:2:3-2:9',
    ]);
  });

  it('is not found in a text that is not a workflow', () => {
    for (const text of ['', '[', '- a', 'steps: 5', 'steps: [[a], {name: [b]}]']) {
      expect(locateSteps([{ path: '-', text }], ['a'])).toEqual(new Map());
    }
  });
});
