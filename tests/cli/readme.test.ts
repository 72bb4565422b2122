import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { blocksOf, wfCalls } from '../docs/guide-blocks.ts';
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

  it('shows a workflow that runs by the command below it', async () => {
    const [yaml, command] = blocksOf(readme);
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'deploy.yaml'), yaml?.text ?? '');
      const [words = []] = wfCalls(command?.text ?? '');
      const { code, stdout } = await wf(words, { cwd, env: { WF_HOME: join(cwd, 'home') } });
      expect([command?.text, code]).toEqual(['wf run deploy.yaml -- ENV=production\n', 0]);
      expect(stdout).toContain('| built for production\n');
    });
  });

  it('starts that tour, and the tests, with one command each', () => {
    const commands = blocksOf(readme).filter(({ text }) => text.startsWith('npm ') && !text.includes('pack'));
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(commands.map(({ text }) => text)).toEqual(['npm start\n', 'npm test\n']);
    expect(scripts).toMatchObject({
      prestart: 'node scripts/setup.mjs',
      start: 'node bin/wf.js run fixtures/showcase.yaml',
    });
  });

  it('lists exactly the commands of the program', async () => {
    const table = readme.slice(readme.indexOf('## Commands'), readme.indexOf('## Steps beyond'));
    const names = [...table.matchAll(/^\|.*?\|/gm)].flatMap(([cell]) => [...cell.matchAll(/`wf (\w+)/g)]);
    const { stdout } = await wf(['help']);
    const commands = [...stdout.matchAll(/^ {2}([a-z]+)(?= )/gm)].map(([, name]) => name);
    expect(names.map(([, name]) => name).toSorted()).toEqual(commands.filter((name) => name !== 'help').toSorted());
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
