import { describe, expect, it } from 'vitest';
import { loadWorkflow } from '#language/load.ts';
import { workflowOf } from '../load-text.ts';

const child = (name: string, step = 'echo') => `---\nname: ${name}\nsteps: [{name: a, command: ${step}}]\n`;
const ROOT = 'steps: [{name: a, run: one}]\n';

describe('the documents of a file', () => {
  it('after the first are the workflows that its steps run', () => {
    const { name, documents = {} } = workflowOf(`${ROOT}${child('one')}${child('two')}`);
    expect([name, Object.keys(documents)]).toEqual(['stdin', ['one', 'two']]);
    expect(documents['one']?.file).toBe('/-#one');
    expect(workflowOf(ROOT)).not.toHaveProperty('documents');
  });

  it('are known to each other, and nothing else is', () => {
    const runTargets = () => ({ exists: () => false, names: () => [], nearby: () => null });
    const text = `${ROOT}${child('one').replace('command: echo', 'run: two')}${child('two').replace('command: echo', 'run: three')}`;
    const { diagnostics } = loadWorkflow({ text, file: null, dir: '/', runTargets });
    expect(diagnostics.map(({ message, position }) => [message, position?.start.line])).toEqual([
      ['step "a": there is no workflow "three" to run', 7],
    ]);
  });

  it('are at most 20, and a problem of any of them is one of the file', () => {
    const many = (count: number) => `${ROOT}${Array.from({ length: count }, (_, at) => child(`n${at}`)).join('')}`;
    expect(workflowOf(many(19)).documents).toHaveProperty('n18');
    const { workflow, diagnostics } = loadWorkflow({ text: many(20), file: null, dir: '/' });
    expect(workflow).toBeNull();
    expect(diagnostics.map(({ message }) => message)).toEqual(['the file contains more than 20 documents']);
    expect(loadWorkflow({ text: `${ROOT}---\n`, file: null, dir: '/' }).workflow).toBeNull();
    expect(loadWorkflow({ text: `${ROOT}---\nname: [\n`, file: null, dir: '/' }).workflow).toBeNull();
  });
});
