import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { withDirectory } from '../support/wf.ts';
import { type Block, blocksOf, commandsOf, wfCalls } from './guide-blocks.ts';
import { refusalOf, yamlProblems } from './guide-checks.ts';
import { play, shows, withOutputs, withoutChance } from './guide-player.ts';
import { pages, root } from './pages.ts';

const isUpdating = process.env['WF_UPDATE_GOLDENS'] === '1';
const checked = pages.filter((page) => /^(README|docs\/guide|docs\/reference)/.test(page));

describe.each(checked)('%s', (page) => {
  const markdown = readFileSync(join(root, page), 'utf8');
  const blocks = blocksOf(markdown);
  const at = (block: Block) => `${page}:${block.line}`;

  it('has valid YAML', async () => {
    const yaml = blocks.filter(({ language }) => language === 'yaml');
    const problems = await Promise.all(
      yaml.map(async (block) => ({ at: at(block), problems: await yamlProblems(block, blocks) })),
    );
    expect(problems.filter((found) => found.problems.length > 0)).toEqual([]);
  });

  it('has valid commands', async () => {
    const scripts = blocks.filter(({ words }) => !words.has('norun'));
    const calls = scripts.flatMap((block) =>
      commandsOf(block).flatMap(({ text }) => wfCalls(text).map((words) => ({ at: at(block), words }))),
    );
    const refused = await Promise.all(calls.map(async (call) => ({ ...call, problem: await refusalOf(call.words) })));
    expect(refused.filter(({ problem }) => problem !== null)).toEqual([]);
  });

  const isPlayed = blocks.some(({ words }) => words.has('run'));
  if (!isPlayed) return;
  it('has commands that do what the page says', { timeout: 60_000 }, async () => {
    await withDirectory(async (directory) => {
      const played = await play(blocks, directory);
      if (isUpdating) writeFileSync(join(root, page), withOutputs(markdown, played));
      for (const { command, code, exit, printed, shown } of played) {
        expect({ command, code, printed }).toEqual({ command, code: exit, printed });
        if (shown !== null && !isUpdating && !shows(shown, printed))
          expect(withoutChance(printed)).toBe(withoutChance(shown));
      }
    });
  });
});

describe('the check of the docs', () => {
  const block = (info: string, text: string) => blocksOf(`before\n\`\`\`${info}\n${text}\`\`\`\nafter\n`)[0] as Block;

  test('reads the text after a fence', () => {
    expect(block('yaml file=a.yaml', 'steps: []\n')).toEqual({
      line: 2,
      language: 'yaml',
      words: new Set(),
      file: 'a.yaml',
      exit: 0,
      text: 'steps: []\n',
    });
    expect(() => block('sh rum', 'wf run\n')).toThrow('line 2: "rum" means nothing behind ```sh');
    expect(() => block('shell', 'wf run\n')).toThrow('line 2: "shell" is no language of a checked block');
    expect(blocksOf('1. item\n\n   ```sh run\n   wf list\n   wf doctor\n   ```\n')[0]?.text).toBe(
      'wf list\nwf doctor\n',
    );
  });

  test.each([
    '~~~sh\nwf run\n~~~\n',
    '> ```sh\n> wf run\n> ```\n',
    '- ```sh\n  wf run\n  ```\n',
    '\t```sh\n\twf run\n\t```\n',
    '````sh\nwf run\n````\n',
    '```sh\nwf run\n',
  ])('refuses a block that it would not find: %j', (markdown) => {
    expect(() => blocksOf(markdown)).toThrow('is no fence of a block that can be checked');
  });

  test('finds every call of the program', () => {
    const script = `# wf no\nA=1 wf run 'a b.yaml' \\\n  -- X=1 # why\ncat f | wf validate - >out 2>&1 && wf list; echo wf no\nnpx wfrun version\n`;
    expect(wfCalls(script)).toEqual([['run', 'a b.yaml', '--', 'X=1'], ['validate', '-'], ['list'], ['version']]);
  });

  test('finds errors', async () => {
    expect(await refusalOf(['run', 'a.yaml', '--colour-me'])).toContain("unknown option '--colour-me'");
    expect(await refusalOf(['rum', 'a.yaml'])).toContain("unknown command 'rum'");
    expect(await refusalOf(['help', 'run'])).toBe(null);
    expect(await yamlProblems(block('yaml', 'steps:\n  - nam: a\n'))).not.toEqual([]);
    expect(await yamlProblems(block('yaml', 'host: localhost\nprot: 8080\n'))).not.toEqual([]);
    expect(await yamlProblems(block('yaml', 'on: [push\n'))).not.toEqual([]);
    expect(await yamlProblems(block('yaml', 'on: [push]\n'))).toEqual([]);
    expect(await yamlProblems(block('yaml fragment', 'steps: later\n'))).toEqual([]);
    const unrun = block('yaml file=list.yaml', 'steps:\n  - nam: a\n');
    expect(await yamlProblems(unrun, [unrun, block('sh run', 'wf list\n')])).not.toEqual([]);
    expect(await yamlProblems(unrun, [unrun, block('sh run exit=2', 'wf run ./list.yaml\n')])).toEqual([]);
  });

  test('runs the commands of a page in order', async () => {
    const page = [
      '```yaml file=hello.yaml\nsteps:\n  - name: hello\n    command: echo hello $1\n```',
      '```sh run\nwf run hello.yaml -- you\n```',
      '```console run exit=1\n$ wf run hello.yaml \\\n>   -- you | tail -2\n10:00:00 [hello] OK   0.1s\nSUCCEEDED hello in 0.1s   1 succeeded\n$ false\n```',
    ].join('\n');
    await withDirectory(async (directory) => {
      const [first, second, third] = await play(blocksOf(page), directory);
      expect(first).toMatchObject({ code: 0, exit: 0, shown: null, printed: expect.stringContaining('| hello you\n') });
      expect(shows(second?.shown ?? '', second?.printed ?? '')).toBe(true);
      expect(shows('...\nSUCCEEDED hello in 9s 1 succeeded\n', second?.printed ?? '')).toBe(true);
      expect(shows('...\nFAILED hello in 9s 1 succeeded\n', second?.printed ?? '')).toBe(false);
      expect(third).toMatchObject({ code: 1, exit: 1, shown: '' });
    });
  });

  test('updates the output of commands in a page', async () => {
    const page = 'before\n```console run\n$ echo one\n$ echo "in $PWD at 10:00:00"\nin ~ at 09:00:00\n```\nafter\n';
    await withDirectory(async (directory) => {
      const updated = withOutputs(page, await play(blocksOf(page), directory));
      expect(updated).toBe(page.replace('one\n', 'one\none\n').replace('in ~ at 09', 'in /home/you/work at 10'));
    });
  });
});
