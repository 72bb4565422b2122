import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadWorkflow } from '../../src/language/load.ts';
import { wf, withDirectory } from '../support/wf.ts';

const root = resolve(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const isUpdating = process.env['WF_UPDATE_GOLDENS'] === '1';

describe('the README', () => {
  it('shows what the showcase prints', async () => {
    const { code, stdout } = await withDirectory((home) =>
      wf(['run', 'fixtures/showcase.yaml'], { cwd: root, env: { WF_HOME: home, WF_REPORTER: 'plain' } }),
    );
    expect(code).toBe(0);
    expectBlock('showcase', stdout, (text) => text.split('\n').map(withoutTimes).sort());
  });

  it('shows the error for an invalid file', async () => {
    const yaml =
      'steps:\n  - name: fetch\n    comand: curl -fsS example.com\n  - name: load\n    command: ./load.sh\n    depends: fech\n';
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'etl.yaml'), yaml);
      const { code, stderr } = await wf(['validate', 'etl.yaml'], { cwd });
      expect(code).toBe(2);
      expectBlock('mistake', stderr, (text) => text.split('\n'));
    });
  });

  it('shows a valid workflow', () => {
    const yaml = /```yaml\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
    expect(loadWorkflow({ text: yaml, file: null, dir: root }).diagnostics).toEqual([]);
  });

  it('names only commands that exist', async () => {
    const names = [...readme.matchAll(/`wf (\w+)/g)].map(([, name]) => name ?? '');
    const { stdout } = await wf(['help']);
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name) => name !== 'help' && !new RegExp(`^  ${name}\\b`, 'm').test(stdout))).toEqual([]);
  });

  it('links only to files that exist', () => {
    const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, target]) => target ?? '');
    expect(links.filter((target) => !existsSync(join(root, target)))).toEqual([]);
  });
});

/** Compares a block between two comments of the README with what was really printed. */
function expectBlock(name: string, printed: string, lines: (text: string) => readonly string[]): void {
  const pattern = new RegExp(`(<!-- ${name} -->\\n\`\`\`\\n)([\\s\\S]*?)(\`\`\`\\n<!-- /${name} -->)`);
  if (isUpdating)
    writeFileSync(
      join(root, 'README.md'),
      readFileSync(join(root, 'README.md'), 'utf8').replace(pattern, `$1${printed.replaceAll('$', '$$$$')}$3`),
    );
  const shown = pattern.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[2] ?? '';
  expect(lines(shown)).toEqual(lines(printed));
}

/** Parallel steps print in any order and take their time, so the README shows one of many. */
function withoutTimes(line: string): string {
  return line
    .replace(/^\d\d:\d\d:\d\d/, 'time')
    .replace(/\d+\.\ds/g, '0.0s')
    .replace(/ {2}[0-9a-f]{8}-[0-9a-f]{4}$/, '  id');
}
