import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { describeWith, isInstalled } from '../support/require.ts';
import { launcher, withDirectory } from '../support/wf.ts';

const guide = readFileSync(resolve(import.meta.dirname, '../../docs/guide/shell-completion.md'), 'utf8');

/** What each shell has to have read before, and how it tells that it can complete `wf` afterwards. */
const shells = {
  bash: { options: ['--noprofile', '--norc'], before: '', after: 'complete -p wf' },
  zsh: { options: ['-f'], before: 'autoload -U compinit; compinit -u -D', after: 'print $_comps[wf]' },
  fish: { options: ['--no-config'], before: '', after: "complete -C 'wf valid'" },
} as const;

const files = {
  bash: '.local/share/bash-completion/completions/wf',
  zsh: '.zfunc/_wf',
  fish: '.config/fish/completions/wf.fish',
} as const;

for (const shell of ['bash', 'zsh', 'fish'] as const) {
  describeWith(shell, isInstalled(shell), `the guide to completion in ${shell}`, () => {
    const blocks = [...guide.matchAll(new RegExp(`\`\`\`${shell}\n([\\s\\S]*?)\`\`\``, 'g'))].map(
      ([, text = '']) => text,
    );

    it('enables it for a shell, and installs the script for every shell', () =>
      withDirectory(async (home) => {
        mkdirSync(join(home, 'bin'));
        symlinkSync(launcher, join(home, 'bin/wf'));
        const env = {
          HOME: home,
          XDG_RUNTIME_DIR: home,
          PATH: `${join(home, 'bin')}:${process.env['PATH']}`,
          WF_HOME: join(home, 'wf'),
        };
        const { options, before, after } = shells[shell];
        const script = [before, ...blocks, after].join('\n');
        const printed = execFileSync(shell, [...options, '-c', script], { cwd: home, env }).toString();

        expect(blocks).toHaveLength(2);
        expect(printed).toContain(shell === 'fish' ? 'validate' : '_wf');
        expect(readFileSync(join(home, files[shell]), 'utf8')).toContain(`wf completion ${shell}`);
      }));
  });
}
