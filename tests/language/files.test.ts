import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { loadWorkflow } from '#language/load.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'wf-files-')));
let dir = root;
let count = 0;
beforeEach(() => {
  dir = join(root, String(count++));
  mkdirSync(dir);
});
afterAll(() => rmSync(root, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(dir, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

const step = (name: string, rest = '') => `steps:\n  - {name: ${name}, command: echo ${rest}}\n`;

describe('a file', () => {
  it('determines its name, directory and group', () => {
    const file = write('sub/nightly.etl.yaml', step('a'));
    const { workflow, sources } = loadWorkflow({ file, group: 'sub' });
    expect(workflow).toMatchObject({ name: 'nightly.etl', dir: join(dir, 'sub'), file, group: 'sub' });
    expect(sources).toEqual([{ path: file, text: step('a') }]);
  });

  it('is not found: the help suggests similar names', () => {
    write('deploy.yaml', step('a'));
    write('other.yaml', step('a'));
    expect(() => loadWorkflow({ file: join(dir, 'deplyo.yml') })).toThrow(
      expect.objectContaining({ code: 'not-found', help: 'Did you mean "deploy.yaml"?' }),
    );
    expect(() => loadWorkflow({ file: dir })).toThrow(expect.objectContaining({ code: 'not-found' }));
    expect(() => loadWorkflow({ file: join(dir, 'deploy.yaml', 'x') })).toThrow(
      expect.objectContaining({ code: 'not-found', help: null }),
    );
  });

  it('is read only up to the limit', () => {
    const { workflow, diagnostics } = loadWorkflow({ file: '/dev/zero', mayBePipe: true });
    expect(workflow).toBeNull();
    expect(diagnostics).toMatchObject([{ code: 'file-too-large', position: null }]);
  });
});

describe('imports', () => {
  it('add their steps before those of the file, nested ones first, and their functions', () => {
    write('parts/deep.yml', `functions: [{name: f, params: x, command: echo}]\n${step('deep')}`);
    write('parts/one.yaml', `imports: ./deep\n${step('one', ', depends: deep')}`);
    write('two.yaml', step('two', ', depends: main'));
    const file = write(
      'main.yaml',
      'imports: [./parts/one, two.yaml]\nsteps:\n  - {name: main, call: {function: f, args: {x: 1}}, depends: one}\n',
    );
    const { workflow, diagnostics, sources } = loadWorkflow({ file });
    expect(diagnostics).toEqual([]);
    expect(workflow?.steps.map(({ name }) => name)).toEqual(['deep', 'one', 'two', 'main']);
    expect(workflow?.steps.at(-1)).toMatchObject({ command: 'echo', env: [{ name: 'x', value: '1' }] });
    expect(sources.map(({ path }) => path)).toEqual(
      ['main.yaml', 'parts/one.yaml', 'parts/deep.yml', 'two.yaml'].map((name) => join(dir, name)),
    );
  });

  it('are enough: the file itself needs no steps', () => {
    write('part.yaml', step('a'));
    expect(loadWorkflow({ file: write('main.yaml', 'imports: [part]\n') }).workflow?.steps).toHaveLength(1);
  });

  it('are relative to the directory of a text', () => {
    write('part.yaml', step('a'));
    const { workflow } = loadWorkflow({ text: 'imports: [part]\n', file: null, dir });
    expect(workflow).toMatchObject({ name: 'stdin', file: null, dir });
  });

  it('cannot leave the directory by a symbolic link', () => {
    write('secret.yaml', step('a'));
    const file = write('inner/main.yaml', `imports: [link]\n${step('b')}`);
    symlinkSync(join(dir, 'secret.yaml'), join(dir, 'inner/link.yaml'));
    const { diagnostics, sources } = loadWorkflow({ file });
    expect(diagnostics).toMatchObject([{ code: 'import-outside', position: { start: { line: 1, column: 11 } } }]);
    expect(sources).toHaveLength(1);
  });

  it('work if the directory is a symbolic link', () => {
    write('real/part.yaml', step('a'));
    write('real/main.yaml', `imports: [part]\n${step('b')}`);
    symlinkSync(join(dir, 'real'), join(dir, 'link'));
    expect(loadWorkflow({ file: join(dir, 'link/main.yaml') }).workflow?.steps).toHaveLength(2);
  });

  it('cannot be the file itself', () => {
    const { diagnostics } = loadWorkflow({ file: write('main.yaml', `imports: [main]\n${step('a')}`) });
    expect(diagnostics).toMatchObject([
      { code: 'import-cycle', message: expect.stringContaining('main.yaml -> main.yaml') },
    ]);
  });

  it('that cannot be read make their steps unknown, not missing', () => {
    write('broken.yaml', 'steps: [');
    const file = write('main.yaml', `imports: [broken, none]\n${step('a', ', depends: there')}`);
    const { diagnostics } = loadWorkflow({ file });
    expect(diagnostics.map(({ code }) => code)).toEqual(['import-not-found', 'yaml-syntax']);
    expect(diagnostics[1]?.importedFrom).toMatchObject([{ file, start: { line: 1, column: 11 } }]);
  });
});

describe('a base', () => {
  it('is overridden by the file', () => {
    const base = write(
      'base.yaml',
      `
env: [{A: base}, {B: base}]
shell: bash
timeoutSec: 5
params: X=1
smtp: {host: h, port: 25}
mailOn: {failure: true, success: true}
errorMail: {from: base, to: base}
handlerOn: {exit: {command: base}, failure: {command: base}}
functions: [{name: f, command: base}]
secrets: [A]
`,
    );
    const file = write(
      'main.yaml',
      `
env: {A: file}
timeoutSec: 7
smtp: {username: u, password: p}
mailOn: {success: false}
errorMail: {to: file}
handlerOn: {exit: {command: file}}
steps: [{name: a, call: {function: f}}]
`,
    );
    const { workflow, diagnostics, sources } = loadWorkflow({ file, base });
    expect(diagnostics).toEqual([]);
    expect(sources.map(({ path }) => path)).toEqual([file, base]);
    expect(workflow).toMatchObject({
      env: [
        { name: 'A', value: 'base' },
        { name: 'B', value: 'base' },
        { name: 'A', value: 'file' },
      ],
      shell: 'bash',
      timeoutMs: 7000,
      params: [{ name: 'X', value: '1' }],
      smtp: { host: 'h', port: '25', username: 'u', password: 'p' },
      mailOn: { failure: true, success: false, cancel: false },
      errorMail: { from: 'base', to: ['file'] },
      handlers: { exit: { command: 'file' }, failure: { command: 'base' } },
      steps: [{ command: 'base' }],
    });
  });

  it('is optional and can be empty', () => {
    const file = write('main.yaml', step('a'));
    expect(loadWorkflow({ file, base: join(dir, 'base.yaml') }).diagnostics).toEqual([]);
    expect(loadWorkflow({ file, base: write('base.yaml', '# nothing\n') }).diagnostics).toEqual([]);
  });

  it('that cannot be read is an error', () => {
    mkdirSync(join(dir, 'base.yaml'));
    chmodSync(join(dir, 'base.yaml'), 0o755);
    const { diagnostics } = loadWorkflow({ file: write('main.yaml', step('a')), base: join(dir, 'base.yaml') });
    expect(diagnostics).toMatchObject([{ code: 'unreadable', position: { file: join(dir, 'base.yaml') } }]);
  });
});
