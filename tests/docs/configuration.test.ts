import { expect, test } from 'vitest';
import { readConfig } from '#config/config.ts';
import { type ListedSetting, listSettings } from '#config/listed-settings.ts';
import { wf } from '../support/wf.ts';
import { expectPart, table } from './reference-page.ts';

const all = listSettings(readConfig({ HOME: '/home/me' }, '/', {}));

test('docs/reference has the current page of settings', () => {
  expectPart(
    'configuration.md',
    'settings',
    sections.map(([title, has]) => section(title, all.filter(has))).join('\n'),
  );
  expect(all.filter((setting) => !sections.some(([, has]) => has(setting)))).toEqual([]);
});

test('every option of a setting is an option of a command', async () => {
  const commands = await Promise.all(['run', 'list', 'serve'].map((name) => wf(['help', name])));
  const flags = all.flatMap(({ flag }) => flag ?? []);
  expect(flags).toContain('--no-history');
  const names = flags.map((flag) => flag.split(' ')[0] ?? '');
  expect(
    names.filter(
      (name) => !commands.some(({ stdout }) => stdout.includes(`  ${name}`) || stdout.includes(`, ${name}`)),
    ),
  ).toEqual([]);
});

const sections: readonly (readonly [string, (setting: ListedSetting) => boolean])[] = [
  ['Every command', ({ usedBy }) => usedBy === 'every command'],
  ['Runs', ({ usedBy, key }) => usedBy === 'runs' && !key.includes('.')],
  ['Runs on an engine', ({ usedBy }) => usedBy === 'runs, wf worker and wf serve'],
  ['The daemon', ({ usedBy }) => usedBy.startsWith('wf serve')],
  ['Commands that ask a daemon', ({ usedBy }) => usedBy === 'clients'],
  ['Log forwarding', ({ key }) => key.startsWith('logForwarding.')],
];

function section(title: string, settings: readonly ListedSetting[]): string {
  const rows = settings.map((setting) => [
    `\`${setting.key}\``,
    setting.type,
    told(setting.default),
    ways(setting),
    setting.description,
  ]);
  return `## ${title}\n\n${table(['key', 'value', 'default', 'flag and variable', 'meaning'], rows)}`;
}

function told(value: unknown): string {
  const isNothing = value === null || value === '' || JSON.stringify(value) === '[]' || JSON.stringify(value) === '{}';
  return isNothing ? '' : `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}

function ways({ flag, variable }: ListedSetting): string {
  return [...(flag === null ? [] : [flag]), variable].map((name) => `\`${name}\``).join(' ');
}
