import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { withPlace } from '../support/past-runs.ts';
import { launcher } from '../support/wf.ts';

const guide = readFileSync(resolve(import.meta.dirname, '../../docs/guide/report.md'), 'utf8');
const commands = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)].flatMap(([, text = '']) => text.trimEnd().split('\n'));

it('every command of the guide to reports writes a page', () =>
  withPlace({ 'nightly-etl.yaml': 'steps: [{ name: a, command: "false" }]' }, async ({ cwd, env, wf }) => {
    mkdirSync(join(cwd, 'bin'));
    symlinkSync(launcher, join(cwd, 'bin/wf'));
    await wf('run', 'nightly-etl.yaml');
    const options = { cwd, env: { ...process.env, ...env, PATH: `${join(cwd, 'bin')}:${process.env['PATH']}` } };
    const printed = commands.map((command) => execFileSync('sh', ['-c', command], options).toString());

    expect(printed).toEqual([
      expect.stringMatching(/^nightly-etl-[0-9a-f-]{13}\.html\n$/),
      printed[0],
      'failed.html\n',
      '',
      expect.stringContaining(printed[0] ?? ''),
    ]);
    for (const name of [printed[0]?.trim() ?? '', 'failed.html', 'page.html']) {
      expect(readFileSync(join(cwd, name), 'utf8')).toMatch(/^<!doctype html>[\s\S]*<\/html>\n$/);
    }
  }));
