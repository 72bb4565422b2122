import { expect, it } from 'vitest';
import { examples } from '#cli/program.ts';
import { refusalOf } from '../../docs/guide-checks.ts';
import { wf } from '../../support/wf.ts';

it('lists the commands in groups', async () => {
  const { stdout } = await wf(['help']);

  expect([...stdout.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading)).toEqual([
    'Options',
    'Run',
    'Look back',
    'Daemon',
    'More machines',
    'Write workflows',
    'Set up',
  ]);
});

it('shows an example of each command, in 80 columns', async () => {
  const { stdout } = await wf(['help']);
  const names = [...stdout.matchAll(/^ {2}([a-z]+)(?= )/gm)].map(([, name]) => name ?? '');
  expect(Object.keys(examples).toSorted()).toEqual(names.filter((name) => name !== 'help').toSorted());

  const shownBy = await Promise.all(Object.keys(examples).map((name) => wf(['help', name])));
  for (const [at, lines] of Object.values(examples).entries()) {
    const [, shown = ''] = (shownBy[at]?.stdout ?? '').split('\nExamples:\n');
    const shownLines = shown.trimEnd().split('\n');
    expect(shownLines).toHaveLength(lines.length);
    expect(shownLines.filter((line) => line.length > 80)).toEqual([]);
  }
});

it.each(Object.values(examples).flat())('takes %s', async (line) => {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');

  expect(await refusalOf(words.slice(1))).toBeNull();
});

it.each([
  ['runn', 'error: unknown command "runn"\n  help: did you mean run? wf help lists the commands\n'],
  ['nonsense', 'error: unknown command "nonsense"\n  help: wf help lists the commands\n'],
])('names an unknown command: wf help %s', async (name, mistake) => {
  expect(await wf(['help', name])).toMatchObject({
    code: 2,
    stdout: '',
    stderr: mistake,
  });
});

it('is printed for wf help help, and by an alias of a command', async () => {
  const [all, itself, alias] = await Promise.all([wf(['help']), wf(['help', 'help']), wf(['help', 'start'])]);

  expect(itself).toEqual(all);
  expect([alias.code, alias.stdout.split('\n')[0]]).toEqual([
    0,
    'Usage: wf run|start [options] [workflow] [params...]',
  ]);
});

it.each([
  [['run', '--bogus'], 'unknown option "--bogus"', 'wf help run shows its arguments and options'],
  [['run', '--onyl'], 'unknown option "--onyl"', 'did you mean --only? wf help run shows its arguments and options'],
  [['--bogus'], 'unknown option "--bogus"', 'wf help lists the commands'],
  [["a'b c"], `unknown command "a'b c"`, 'wf help lists the commands'],
  [['stop'], 'missing required argument "run"', 'wf help stop shows its arguments and options'],
  [['run', 'x', '--detach', '--watch'], 'option "--detach" cannot be used with option "--watch"', 'wf help run'],
])('prints the mistake of wf %j in the form of all errors', async (words, message, help) => {
  const { code, stdout, stderr } = await wf(words);
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(`error: ${message}\n  help: ${help}`)]);
  expect(stderr.trimEnd().split('\n')).toHaveLength(2);
});
