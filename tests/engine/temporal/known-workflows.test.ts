import { expect, it } from 'vitest';
import { childRequest, knownWorkflow } from '#engine/driver/child-run.ts';
import type { ChildWorkflow, RunRequest } from '#engine/engine.ts';
import { withKnownWorkflows } from '#engine/temporal/client/known-workflows.ts';
import { loadWorkflow } from '#language/load.ts';
import { WfError } from '#system/errors.ts';

/** Workflows by their names, which are also those of their files. */
const texts: Readonly<Record<string, string>> = {
  left: 'steps: [{name: a, run: leaf}, {name: b, run: gone}]',
  right: 'steps: [{name: a, run: right}]',
  leaf: 'steps: [{name: a, command: echo}]',
  wanted: 'notify: [{to: webhook, url: "http://localhost/", on: recovery}]\nsteps: [{name: a, command: echo}]',
  calm: 'notify: [{to: webhook, url: "http://localhost/", on: recovery}]\nsteps: [{name: a, command: echo}]',
  held: 'steps: [{name: a, dir: /tmp, command: echo}]',
};

function file(name: string, text = texts[name] ?? ''): ChildWorkflow {
  const { workflow, diagnostics } = loadWorkflow({ text, file: null, dir: '/' });
  if (workflow === null) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return { workflow: { ...workflow, name, dir: '/w', file: `/w/${name}` }, sources: [] };
}

function known(text: string, params: RunRequest['params'] = []): Promise<RunRequest> {
  const request: RunRequest = {
    ...file('root', text),
    runId: 'r',
    params,
    trigger: 'cli',
    retryOf: null,
    restored: [],
    ancestors: [],
  };
  return withKnownWorkflows(request, {
    keepsFiles: false,
    load: async ({ run }) => {
      if (texts[run] === undefined) throw new WfError('not-found', `there is no workflow "${run}"`);
      return file(run);
    },
    retriesOf: () => Promise.resolve({}),
    failedBefore: (_, { name }) => Promise.resolve(name !== 'calm'),
  });
}

it('a run without steps that run workflows reads nothing', async () => {
  expect((await known('steps: [{name: a, command: echo}]')).known).toBeUndefined();
});

it('every workflow that can be reached is read once, also one that runs itself, and one that cannot be read has its problem', async () => {
  const { known: found } = await known('steps: [{name: a, run: left}, {name: b, run: right}, {name: c, run: left}]');
  expect(found?.names).toEqual({
    '/w/root': { left: '/w/left', right: '/w/right' },
    '/w/left': { leaf: '/w/leaf', gone: { problem: 'there is no workflow "gone"' } },
    '/w/right': { right: '/w/right' },
  });
  expect(Object.keys(found?.workflows ?? {}).sort()).toEqual(['/w/leaf', '/w/left', '/w/right']);
});

it('names may use parameters, plain variables and items of the file', async () => {
  const text = `
params: KIND=left
env: [{SIDE: right}]
steps:
  - {name: a, run: $KIND}
  - {name: b, run: $SIDE}
  - {name: c, run: $ITEM, parallel: {items: [leaf, gone]}}
`;
  const { known: found } = await known(text, [{ name: 'KIND', value: 'leaf' }]);
  expect(found?.names['/w/root']).toEqual({
    leaf: '/w/leaf',
    right: '/w/right',
    gone: { problem: 'there is no workflow "gone"' },
  });
});

it.each([
  ['an output', 'steps: [{name: a, command: echo x, output: X}, {name: b, run: $X, depends: a}]', 'which sets "$X"'],
  ['a substitution', 'env: [{X: "`echo x`"}]\nsteps: [{name: a, run: $X}]', 'which sets "$X"'],
  ['a key of a child', 'steps: [{name: a, run: held}]', 'does not support "dir" of step "a" of workflow "held"'],
])('a run is refused because of %s', async (_, text, message) => {
  await expect(known(text)).rejects.toThrow(message);
});

it('the caller finds out whether the run before failed, for notifications of a recovery', async () => {
  expect((await known(texts['wanted'] ?? '')).failedBefore).toBe(true);
  expect((await known('steps: [{name: a, command: echo}]')).failedBefore).toBeUndefined();
  const root = await known(`steps: [{name: a, run: wanted}, {name: b, run: left}, {name: c, run: calm}]`);
  const child = (run: string) =>
    childRequest(root, knownWorkflow(root, run), { runId: 'c', params: [], earlier: null }).failedBefore;
  expect(['wanted', 'left', 'calm'].map(child)).toEqual([true, undefined, undefined]);
});

it('a child run knows what it can reach, and nothing else', async () => {
  const root = await known('steps: [{name: a, run: left}, {name: b, run: right}]');
  const own = { runId: 'c', params: [], earlier: null };
  const left = childRequest(root, knownWorkflow(root, 'left'), own);
  expect({ names: left.known?.names, files: Object.keys(left.known?.workflows ?? {}) }).toEqual({
    names: { '/w/left': root.known?.names['/w/left'] },
    files: ['/w/leaf'],
  });
  expect(knownWorkflow(left, 'leaf').workflow.name).toBe('leaf');
  expect(() => knownWorkflow(left, 'gone')).toThrow('there is no workflow "gone"');
  expect(() => knownWorkflow(left, 'right')).toThrow('the workflow "right" was not read before the run started');
});
