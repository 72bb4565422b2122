import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Block, blocksOf, proseOf, wfCalls } from './guide-blocks.ts';
import { refusalOf } from './guide-checks.ts';
import { pages, root, textOf } from './pages.ts';

/** Tests that run the commands of a page, apart from its `run` blocks, which `guides.survey.test.ts` runs. */
const followed: Readonly<Record<string, string>> = {
  'README.md': 'tests/cli/readme.test.ts',
  'docs/guide/ci.md': 'tests/docs/ci-guide.test.ts',
  'docs/guide/history-and-retry.md': 'tests/docs/history-guide.test.ts',
  'docs/guide/log-forwarding.md': 'tests/docs/secrets-and-forwarding.test.ts',
  'docs/guide/monitoring.md': 'tests/docs/serving-guide.test.ts',
  'docs/guide/more-than-one-machine.md': 'tests/engine/temporal/runs.survey.test.ts',
  'docs/guide/notifications.md': 'tests/docs/notifications-guide.test.ts',
  'docs/guide/remote.md': 'tests/docs/serving-guide.test.ts',
  'docs/guide/report.md': 'tests/docs/report-guide.test.ts',
  'docs/guide/reverse-proxy.md': 'tests/docs/reverse-proxy.survey.test.ts',
  'docs/guide/scheduling.md': 'tests/docs/serving-guide.test.ts',
  'docs/guide/security.md': 'tests/docs/serving-guide.test.ts',
  'docs/guide/serving.md': 'tests/docs/serving-guide.test.ts',
  'docs/guide/web-page.md': 'tests/docs/serving-guide.test.ts',
  'docs/guide/shell-completion.md': 'tests/docs/shell-completion-guide.survey.test.ts',
};

/** First lines of blocks that no test runs: they need the network, root, a person, or a program of the reader's own. */
const unrun: Readonly<Record<string, readonly string[]>> = {
  'docs/guide/history-and-retry.md': ['wf stop --owner-gone etl-1'],
  'docs/guide/installing.md': [
    'git clone https://github.com/wfrun/wf.git && cd wf',
    'npm install',
    'npm install --save-dev git+https://github.com/wfrun/wf.git',
    'npm install --save-dev ./wfrun-0.1.0.tgz',
    'npm pack --pack-destination docs/deploy',
  ],
  'docs/guide/migrating-a-server.md': ['wf validate ~/.config/blackdagger/dags/*.yaml'],
  'docs/guide/running-under-systemd-and-docker.md': [
    'npm pack',
    'systemctl status wf',
    'systemctl kill --kill-whom=all wf',
    'npm pack --pack-destination docs/deploy',
    'docker exec wf wf list',
  ],
  'docs/guide/stopping-and-background-runs.md': ['wf exec -- docker run --env-file app.env alpine env'],
  'docs/guide/writing-a-workflow.md': ['wf run report.yaml --watch', 'wf run report.yaml --shell-on-failure'],
  'docs/reference/performance.md': ['npm run bench                         # everything: takes about 20 minutes'],
};

/** `CONTRIBUTING.md` describes the blocks themselves, and scripts of `package.json`. */
const described = pages.filter((page) => page !== 'CONTRIBUTING.md');

test('every block of commands is run by a test', () => {
  const left = described.flatMap((page) =>
    blocksOf(textOf(page))
      .filter((block) => hasCommands(block) && !block.words.has('run') && !startsDaemon(block))
      .map(({ text }) => ({ page, first: text.split('\n')[0] ?? '' }))
      .filter(({ first }) => !(page in followed) || unrun[page]?.includes(first)),
  );
  const named = Object.entries(unrun).flatMap(([page, lines]) => lines.map((first) => ({ page, first })));

  expect(left).toEqual(expect.arrayContaining(named));
  expect(left).toHaveLength(named.length);
});

test('every page that another test follows is read by that test', () => {
  const unread = Object.entries(followed).filter(
    ([page, file]) => !existsSync(join(root, file)) || !textOf(file).includes(basename(page, '.md')),
  );
  expect(unread).toEqual([]);
});

test('a block in any other language has no command', () => {
  const found = described.flatMap((page) =>
    blocksOf(textOf(page))
      .filter((block) => !hasCommands(block) && page !== 'docs/reference/command-line.md')
      .filter(({ text, file }) => file === null && /^(\$ |(npx )?wf [a-z])/m.test(text))
      .map(({ text }) => [page, text]),
  );
  expect(found).toEqual([]);
});

test('every script of npm in a page exists', () => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
  const names = pages.flatMap((page) =>
    [...textOf(page).matchAll(/npm (?:run )?(start|test|(?<=run )[\w:]+)/g)].map(([, name = '']) => name),
  );
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((name) => !(name in scripts))).toEqual([]);
});

describe('a command within a sentence', () => {
  test('has options that exist', async () => {
    const calls = pages.flatMap((page) => callsIn(proseOf(textOf(page))).map((words) => ({ page, words })));
    const refused = await Promise.all(calls.map(async (call) => ({ ...call, problem: await problemOf(call.words) })));

    expect(refused.filter(({ problem }) => problem !== null)).toEqual([]);
    expect(calls.length).toBeGreaterThan(300);
  });

  test.each([
    ['`wf run <file> --reporter quiet`', null],
    ['`wf\nlogs --attempt N`', null],
    ['`wf stop [run] --al`', "error: unknown option '--al'"],
    ['`wf stpo`', "error: unknown command 'stpo'"],
    ['`wf list ops`', "error: too many arguments for 'list'. Expected 0 arguments but got 1."],
  ])('%j is checked', async (prose, problem) => {
    const [words = []] = callsIn(prose);
    expect((await problemOf(words))?.split('\n')[0] ?? null).toBe(problem);
  });
});

function hasCommands({ language, file }: Block): boolean {
  return file === null && ['sh', 'console', 'bash', 'zsh', 'fish'].includes(language);
}

/** Whether it does nothing but start the daemon: `serving-guide.test.ts` starts each such command. */
function startsDaemon({ text }: Block): boolean {
  const calls = wfCalls(text);
  return calls.length === text.trimEnd().split('\n').length && calls.every(([command]) => command === 'serve');
}

/** Values of arguments that take only some words. */
const values: Readonly<Record<string, string>> = { shell: 'bash', status: 'succeeded', N: '1' };

/** The arguments of every `wf` in a code span, with words in place of `<file>`, `[run]` and `N`. */
function callsIn(prose: string): readonly (readonly string[])[] {
  return [...prose.matchAll(/(?<!`)`((?:wf|npx wfrun)\s[^`]*)`(?!`)/g)].flatMap(([, code = '']) => {
    const placed = code.replace(/[<[]([\w-]+)(?:\.{3})?[>\]]|\bN\b/g, (found, name = found) => values[name] ?? name);
    return wfCalls(placed.replaceAll('\n', ' '));
  });
}

/** Why the program refuses a command; a sentence may leave its arguments, and the value of its last option, out. */
async function problemOf(words: readonly string[]): Promise<string | null> {
  const problem = await refusalOf(words);
  const isShort = /missing required argument|argument missing|required option|outputHelp/.test(problem ?? '');
  return isShort ? null : problem;
}
