import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { exitCodes, stopSignals } from '#cli/exit-codes.ts';
import { buildProgram } from '#cli/program.ts';
import { createConsole } from '#cli/terminal/console.ts';
import { version } from '#cli/version.ts';
import { describeWith, isInstalled } from '../support/require.ts';
import { manPage } from './man-page.ts';

const file = resolve(import.meta.dirname, '../../docs/man/wf.1');
const page = manPage(
  buildProgram(createConsole({}, null), () => {}, []),
  version,
);

it('docs/man/wf.1 is the current manual page', () => {
  if (process.env['WF_UPDATE_GOLDENS'] === '1') {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, page);
  }
  expect(page).toBe(readFileSync(file, 'utf8'));
});

it('lists every exit code', () => {
  const [, section = ''] = /\.SH EXIT STATUS\n([\s\S]*?)\n\.SH/.exec(page) ?? [];
  const told = [...section.matchAll(/^\\fB(.*)\\fR$/gm)].flatMap(([, codes = '']) => codes.split(', ').map(Number));

  expect(told.toSorted()).toEqual([...Object.values(exitCodes), ...Object.values(stopSignals)].toSorted());
});

it('lists no hidden command', () => {
  expect(page).toContain('\\fBwf completion\\fR');
  expect(page).not.toContain('\\fBwf complete\\fR');
});

describeWith('groff', isInstalled('groff'), 'groff', () => {
  it('formats the page without a warning', () => {
    const { status, stderr, stdout } = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-b', '-z'], {
      input: page,
      encoding: 'utf8',
    });

    expect({ status, stderr, stdout }).toEqual({ status: 0, stderr: '', stdout: '' });
  });

  it('leaves text for the command line unchanged', () => {
    const { stdout } = spawnSync('groff', ['-man', '-Tutf8', '-P-cbou', '-rLL=200n'], {
      input: page,
      encoding: 'utf8',
    });

    expect(stdout).toContain('wf logs [run] [step]');
    expect(stdout).toContain("wf run deploy.yaml -- ENV=production 'NOTE=two words'");
    expect(stdout).toContain('--params <text>');
    expect(stdout).toContain('~/.config/wf/config.yaml');
  });
});
