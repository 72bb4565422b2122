import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { wf, withDirectory } from '../support/wf.ts';

const text = (name: string) => readFileSync(resolve(import.meta.dirname, `../../docs/guide/${name}.md`), 'utf8');
const blocks = (page: string, language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, block = '']) => block);
const commands = (page: string) => blocks(page, 'sh').flatMap((block) => block.trimEnd().split('\n'));

/** The words of a command of these pages, which quote nothing but globs. */
const words = (command: string) => command.split(' ').map((word) => word.replaceAll("'", ''));

/** Every value of a document that is a text. */
function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

it('the commands of the guide to CI do what they say, also in the files of CI services', async () => {
  const page = text('ci');
  const [workflow = '', ...services] = blocks(page, 'yaml');
  const ofServices = services.flatMap((block) => textsIn(parse(block))).filter((line) => line.startsWith('npx wf '));
  expect(ofServices).toHaveLength(2);
  await withDirectory(async (cwd) => {
    writeFileSync(join(cwd, 'ci.yaml'), workflow);
    const all = [...commands(page), ...ofServices.map((line) => line.replace('npx wf', 'wf'))];
    expect(all.length).toBeGreaterThan(6);
    for (const command of all) {
      const { code, stderr } = await wf(words(command).slice(1), { cwd, env: { WF_HOME: join(cwd, 'home') } });
      expect([command, code, stderr]).toEqual([command, 0, '']);
    }
    expect(JSON.parse(readFileSync(join(cwd, 'summary.json'), 'utf8')).status).toBe('succeeded');
    const { reports } = parse(services[1] ?? '').ci.artifacts;
    expect(readFileSync(join(cwd, reports.junit), 'utf8')).toContain('<testcase name="package"');
  });
});

it('the options of the guide to writing exist, and its file is valid', async () => {
  const page = text('writing-a-workflow');
  await withDirectory(async (cwd) => {
    const program = (name: string) => writeFileSync(join(cwd, name), '#!/bin/sh\necho "$0 $*"\n', { mode: 0o755 });
    writeFileSync(join(cwd, 'report.yaml'), blocks(page, 'yaml')[0] ?? '');
    writeFileSync(join(cwd, 'steps.yaml'), 'steps:\n  - name: first\n    command: echo first\n');
    for (const name of ['fetch.sh', 'write.sh']) program(name);
    const run = (...args: string[]) => wf(args, { cwd, env: { WF_HOME: join(cwd, 'home') } });
    const given = await run('run', 'report.yaml', '-p', 'DAY=monday', '-p', 'TOKEN=x');
    expect([given.code, given.stdout.includes('./fetch.sh monday\n')]).toEqual([0, true]);
    expect((await run('run', 'report.yaml', '--no-input')).code).toBe(0);
    const helps = await Promise.all(['run', 'retry', 'validate'].map((command) => run(command, '--help')));
    const help = helps.map(({ stdout }) => stdout).join('');
    const options = [...page.matchAll(/--[a-z]+(?:-[a-z]+)*/g)].map(([option]) => option);
    expect(options.length).toBeGreaterThan(6);
    expect(options.filter((option) => !help.includes(option))).toEqual([]);
  });
});
