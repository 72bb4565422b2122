import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { wf, withDirectory } from '../support/wf.ts';

/** Copies to the clipboard, forges a line, moves the cursor with the one-byte form of CSI, and turns the direction of writing. */
const evil = 'a\u001b]52;c;cHduZWQ=\u0007\nSUCCEEDED all\u009b2J\u202eb';
const yaml = JSON.stringify({
  name: `name ${evil}`,
  description: `about ${evil}`,
  tags: [`tag ${evil}`],
  params: { GIVEN: `default ${evil}` },
  env: [{ SHOWN: `value ${evil}` }],
  handlerOn: { failure: { command: 'false' } },
  steps: [
    { name: `first ${evil}`, command: ['true', `word ${evil}`] },
    { name: `fails ${evil}`, dir: `/missing/${evil}`, command: ['true', `word ${evil}`], depends: [`first ${evil}`] },
    { name: `last ${evil}`, command: ['true'], depends: [`fails ${evil}`] },
    { name: `skipped ${evil}`, command: ['true'], preconditions: [{ condition: `x ${evil}`, expected: `y ${evil}` }] },
  ],
});

/** What a terminal acts on, beside line ends and colours. */
function controlsIn(text: string): readonly string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters looked for
  const found = text.replace(/\u001b\[[0-9;]*m/g, '').match(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/g);
  return [...new Set(found ?? [])].map((character) => JSON.stringify(character));
}

async function printedBy(cwd: string, args: readonly string[]): Promise<string> {
  const env = { WF_HOME: join(cwd, 'home'), GITHUB_STEP_SUMMARY: join(cwd, 'summary.md') };
  const { stdout, stderr } = await wf(args, { cwd, env });
  return `${stdout}${stderr}`;
}

describe('names, messages and values of a file', () => {
  it.each([
    ['run', '--run-id', 'plain', 'w.yaml'],
    ['run', '--color', 'w.yaml'],
    ['run', '--reporter', 'github', 'w.yaml'],
    ['run', '--reporter', 'quiet', 'w.yaml'],
    ['run', '-p', `GIVEN=${evil}`, 'w.yaml'],
    ['run', '--run-id', `id ${evil}`, 'w.yaml'],
    ['dry', 'w.yaml'],
    ['validate', 'w.yaml'],
    ['validate', '--format', 'github', 'bad.yaml'],
    ['validate', 'bad.yaml'],
    ['graph', 'w.yaml'],
    ['graph', '--format', 'dot', 'w.yaml'],
    ['graph', '--format', 'mermaid', 'w.yaml'],
  ])('do not reach the terminal raw by wf %s %s %s %s', async (...args) => {
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'w.yaml'), yaml);
      writeFileSync(join(cwd, 'bad.yaml'), yaml.replace('"depends"', '"dependz"'));
      const printed = await printedBy(cwd, args);
      expect(printed).not.toBe('');
      expect(controlsIn(printed)).toEqual([]);
      expect(printed.split('\n').filter((line) => line.startsWith('SUCCEEDED'))).toEqual([]);
    });
  });

  it('do not reach the terminal raw by the commands about past runs, nor by errors', async () => {
    await withDirectory(async (cwd) => {
      const dags = join(cwd, 'home', 'dags', `group ${evil}`.replaceAll('/', ''));
      mkdirSync(dags, { recursive: true });
      writeFileSync(join(dags, `file ${evil}.yaml`.replaceAll('/', '')), yaml);
      writeFileSync(join(cwd, 'w.yaml'), yaml);
      await printedBy(cwd, ['run', '--run-id', 'r1', 'w.yaml']);
      const shown = await Promise.all([
        printedBy(cwd, ['status', 'r1']),
        printedBy(cwd, ['history']),
        printedBy(cwd, ['list']),
        printedBy(cwd, ['logs', 'r1']),
        printedBy(cwd, ['logs', 'r1', `no ${evil}`]),
        printedBy(cwd, ['stop', 'r1']),
        printedBy(cwd, ['mark', 'r1', `fails ${evil}`, 'succeeded']),
        printedBy(cwd, ['complete', '--', 'logs', 'r1', '']),
        printedBy(cwd, ['run', `none ${evil}`]),
        printedBy(cwd, ['frobnicate', evil]),
      ]);
      const complete = shown.splice(7, 1)[0] ?? '';
      expect(shown.map(controlsIn)).toEqual(shown.map(() => []));
      expect(controlsIn(complete.replaceAll('\t', ''))).toEqual([]);
    });
  });

  it('do not reach the summary page of GitHub raw, nor break a JUnit file', async () => {
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'w.yaml'), yaml);
      await printedBy(cwd, ['run', 'w.yaml', '--reporter', 'github,junit=j.xml']);
      expect(controlsIn(readFileSync(join(cwd, 'summary.md'), 'utf8'))).toEqual([]);
      const ascii = controlsIn(readFileSync(join(cwd, 'j.xml'), 'latin1').replace(/\P{ASCII}/gu, ''));
      expect(ascii).toEqual([]);
    });
  });

  it('are quoted in suggested commands', async () => {
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'w.yaml'), yaml);
      const printed = await printedBy(cwd, ['run', '--run-id', 'r1', 'w.yaml']);
      const [, command = ''] = /logs: (wf logs r1 \$'fails.*?[^\\]')/.exec(printed) ?? [];
      const words = execFileSync('bash', ['-c', `wf() { printf '%s' "$3"; }; ${command}`]).toString();
      expect(words).toBe(`fails ${evil}`);
    });
  });
});
