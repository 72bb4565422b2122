import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { type LoadRequest, loadWorkflow } from '#language/load.ts';
import { checkWorkflow } from '#service/workflows/load-workflow.ts';
import { createTaskThread, createWorkflowLoader } from '#service/workflows/workflow-loader.ts';
import { readWorkflow } from '#service/workflows/workflows.ts';
import { withDirectory } from '../../support/wf.ts';

const step = (i: number) =>
  `  - {name: s${i}, command: echo ${i}, preconditions: [{condition: $1, expected: "re:^a+$"}]}\n`;
const steps = (count: number) =>
  `type: graph\nparams: a b\nsteps:\n${Array.from({ length: count }, (_, i) => step(i)).join('')}`;
const small = steps(1);
const large = steps(1500);
const broken = `${large}    comand: echo\n  - {name: s1, command: [}\n`;

function loader() {
  const started: Worker[] = [];
  const thread = createTaskThread(() => {
    const worker = new Worker(join(import.meta.dirname, '../../../bin/task-worker.js'), { execArgv: [] });
    started.push(worker);
    return worker;
  });
  onTestFinished(thread.close);
  return { ...createWorkflowLoader(thread), started };
}

test('a small text is read at once, without a thread', () =>
  withDirectory(async (dir) => {
    const { load, started } = loader();
    expect(load({ text: small, file: null, dir })).toEqual(loadWorkflow({ text: small, file: null, dir }));
    expect(started).toEqual([]);
  }));

test('a thread returns the same as the main thread, for texts, files, references and errors', () =>
  withDirectory(async (dir) => {
    const { load, read } = loader();
    writeFileSync(join(dir, 'large.yaml'), large);
    const requests: readonly LoadRequest[] = [
      { text: large, file: null, dir },
      { text: Buffer.from(large), file: null, dir, base: join(dir, 'base.yaml') },
      { text: broken, file: null, dir },
      { file: join(dir, 'large.yaml'), group: 'g' },
    ];
    for (const request of requests) {
      const found = load(request);
      expect(found).toBeInstanceOf(Promise);
      expect(await found).toEqual(loadWorkflow(request));
    }
    const directories = { cwd: dir, dagsDir: dir, base: null };
    expect(await read({ name: 'large' }, directories)).toEqual(readWorkflow({ name: 'large' }, directories));
  }));

test.each([
  { where: 'imports', files: 'part-0 part-1 part-2'.split(' '), text: 'imports: [part-0, part-1, part-2]\n' },
  { where: 'imports of imports', files: ['middle'], text: 'imports: middle\n' },
  { where: 'base', files: ['base'], text: '' },
])('a small text is read in the thread if its $where are large in total', async ({ files, text, where }) =>
  withDirectory(async (dir) => {
    const { load, check, read, started } = loader();
    const part = (name: string) =>
      `steps:\n${Array.from({ length: 140 }, (_, i) => step(i)).join('')}`.replaceAll('{name: s', `{name: ${name}-`);
    const write = (name: string, content: string) => writeFileSync(join(dir, `${name}.yaml`), content);
    for (const name of files) write(name, where === 'base' ? `# ${'x'.repeat(40_000)}\n` : part(name));
    if (where === 'imports of imports') {
      write('middle', `imports: [deep-0, deep-1, deep-2]\nsteps: []\n`);
      for (const name of ['deep-0', 'deep-1', 'deep-2']) write(name, part(name));
    }
    write('root', `${text}${small}`);
    const base = join(dir, 'base.yaml');
    const request: LoadRequest = { file: join(dir, 'root.yaml'), base };
    expect(await load(request)).toEqual(loadWorkflow(request));
    expect(started).toHaveLength(1);
    expect(await check(request)).toEqual(checkWorkflow(request));
    expect(started).toHaveLength(2);
    const directories = { cwd: dir, dagsDir: dir, base };
    expect(await read({ name: 'root' }, directories)).toEqual(readWorkflow({ name: 'root' }, directories));
    expect(started).toHaveLength(3);
    expect(loadWorkflow(request).diagnostics).toEqual([]);
  }),
);

test('a small text with small imports is read at once', () =>
  withDirectory(async (dir) => {
    const { load, started } = loader();
    writeFileSync(join(dir, 'part.yaml'), 'steps:\n  - {name: part, command: "true"}\n');
    const request = { text: `imports: part\n${small}`, file: null, dir };
    expect(load(request)).toEqual(loadWorkflow(request));
    expect(started).toEqual([]);
  }));

test('a check in the thread returns diagnostics, and the text only of a file with errors', () =>
  withDirectory(async (dir) => {
    const { check } = loader();
    const [valid, invalid] = [
      await check({ text: large, file: null, dir }),
      await check({ text: broken, file: null, dir }),
    ];
    expect(valid).toEqual({ isValid: true, diagnostics: [], sources: [] });
    expect(invalid).toMatchObject({ isValid: false, sources: [{ path: '-', text: broken }] });
    expect(invalid.diagnostics).toEqual(loadWorkflow({ text: broken, file: null, dir }).diagnostics);
  }));

test('an error of the reader is returned as the same error', () =>
  withDirectory(async (dir) => {
    const { load } = loader();
    const request = { text: large, file: null, dir: join(dir, 'none') };
    const failure = (() => {
      try {
        return loadWorkflow(request);
      } catch (error) {
        return error as NodeJS.ErrnoException;
      }
    })();
    await expect(load(request)).rejects.toThrow((failure as Error).message);
    expect(await load({ text: large, file: null, dir })).toMatchObject({ diagnostics: [] });
  }));

test('several large texts share one thread, which ends after them', () =>
  withDirectory(async (dir) => {
    const { load, started } = loader();
    const ended: number[] = [];
    const texts = [large, broken, large];
    const loadOne = async (text: string, i: number) => {
      await load({ text, file: null, dir });
      ended.push(i);
    };
    await Promise.all(texts.map(loadOne));
    expect(ended).toEqual([0, 1, 2]);
    expect(started).toHaveLength(1);
    await expect.poll(() => started.map(({ threadId }) => threadId)).toEqual([-1]);
    await load({ text: large, file: null, dir });
    expect(started).toHaveLength(2);
  }));

test('the end of a thread fails its current text, and the next text gets another thread', () =>
  withDirectory(async (dir) => {
    const { load, started } = loader();
    const first = load({ text: large, file: null, dir });
    const second = load({ text: large, file: null, dir });
    await expect.poll(() => started.length).toBe(1);
    await started[0]?.terminate();
    await expect(first).rejects.toThrow('the thread that reads workflows has ended');
    expect(await second).toEqual(loadWorkflow({ text: large, file: null, dir }));
  }));

test('a thread that does not answer is ended, and the next text gets another thread', () =>
  withDirectory(async (dir) => {
    const endless = `require('node:worker_threads').parentPort.on('message', () => { for (;;); });`;
    const started: Worker[] = [];
    const thread = createTaskThread(
      () => {
        const file = join(import.meta.dirname, '../../../bin/task-worker.js');
        const worker = started.length === 0 ? new Worker(endless, { eval: true }) : new Worker(file, { execArgv: [] });
        started.push(worker);
        return worker;
      },
      () => 1,
    );
    onTestFinished(thread.close);
    const { load } = createWorkflowLoader(thread);
    const [first, second] = [1, 2].map(() => load({ text: large, file: null, dir }));
    await expect(first).rejects.toThrow('the workflow takes too long to read');
    await expect(second).resolves.toMatchObject({ diagnostics: [] });
    await expect.poll(() => started[0]?.threadId).toBe(-1);
  }));

test.each([
  ['large patterns', `params: [{name: A, pattern: '(a{1,900}){1,9}'}]\n`],
  [
    'a schema of many parts',
    `params: ${JSON.stringify({ type: 'object', properties: { a: { type: 'string' } }, allOf: Array(400).fill({}) })}\n`,
  ],
])('a small text with %s is read in the thread', async (_, head) =>
  withDirectory(async (dir) => {
    const { load, started } = loader();
    const request: LoadRequest = { text: `${head}steps: [{name: a, command: x}]\n`, file: null, dir };
    expect(await load(request)).toEqual(loadWorkflow(request));
    expect(started).toHaveLength(1);
  }),
);
