import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Place, withPlace } from '../support/past-runs.ts';
import { describeWithAll, isInstalled } from '../support/require.ts';
import { type Tmux, untilShown, withTmux } from '../support/tmux.ts';
import { launcher } from '../support/wf.ts';

const steps = `steps:
  - { name: fetch rows, command: "true" }
  - { name: "load: all of $them", command: "true" }
  - { name: "it's done", command: "true" }
`;

/** A line typed before the tab key, and the completed line, in every shell. */
const lines: readonly (readonly [typed: string, completed: string])[] = [
  ['wf valid', 'wf validate'],
  ['wf graph --form', 'wf graph --format'],
  ['wf graph --format merm', 'wf graph --format mermaid'],
  ['wf graph --format=merm', 'wf graph --format=mermaid'],
  ['wf status @lat', 'wf status @latest'],
  ['wf run nigh', 'wf run nightly'],
  ['wf run dep', 'wf run deploy.yaml'],
  ['wf run my', String.raw`wf run my\ flow.yml`],
  ['wf run --dags hom', 'wf run --dags home/'],
  ['wf run --params-file=note', 'wf run --params-file=notes.txt'],
  ['wf logs deploy fet', String.raw`wf logs deploy fetch\ rows`],
  ['wf logs deploy "fet', 'wf logs deploy "fetch rows"'],
  [String.raw`wf logs deploy load:\ a`, String.raw`wf logs deploy load:\ all\ of\ \$them`],
  ['wf logs deploy it', String.raw`wf logs deploy it\'s\ done`],
  ['wf run param.yaml -p ENV=stag', String.raw`wf run param.yaml -p ENV=staging\ eu`],
  ['wf run param.yaml -p ONLY=', 'wf run param.yaml -p ONLY=one'],
  ['cd home && wf schem', 'cd home && wf schema'],
];

describeWithAll({ tmux: isInstalled('tmux'), bash: isInstalled('bash') }, 'completion in bash', () => {
  it('completes typed words', () =>
    withShell('source <(wf completion bash)', 'bash', 'exec bash --noprofile --rcfile rc -i'));
});

describeWithAll({ tmux: isInstalled('tmux'), zsh: isInstalled('zsh') }, 'completion in zsh', () => {
  it('completes typed words', () =>
    withShell(
      'autoload -U compinit; compinit -u -D\nsource <(wf completion zsh)',
      'zsh',
      'ZDOTDIR=$PWD/zsh exec zsh -i',
    ));
});

describeWithAll({ tmux: isInstalled('tmux'), fish: isInstalled('fish') }, 'completion in fish', () => {
  it('completes typed words', () =>
    withShell(
      "function fish_prompt\n  printf 'ready> '\nend\nset -g fish_autosuggestion_enabled 0\nwf completion fish | source",
      'fish',
      "exec fish --no-config --init-command 'source rc'",
    ));

  it('offers the same words, with descriptions', () =>
    withWork(async ({ cwd, env }) => {
      const offered = (line: string) => {
        const script = `wf completion fish | source; complete -C ${JSON.stringify(line)}`;
        const path = `${join(cwd, 'bin')}:${process.env['PATH']}`;
        return execFileSync('fish', ['--no-config', '-c', script], {
          cwd,
          env: { ...env, PATH: path, HOME: cwd, XDG_RUNTIME_DIR: cwd },
        })
          .toString()
          .trimEnd()
          .split('\n');
      };
      expect(offered('wf valid')).toEqual([
        'validate\tprint every mistake in the files, each with its line and column',
      ]);
      expect(offered('wf graph --format=merm')).toEqual(['--format=mermaid']);
      expect(offered('wf run nigh')).toEqual(['nightly\tworkflow']);
      expect(offered('wf run my')).toEqual(['my flow.yml']);
      expect(offered('wf run --dags hom')[0]).toMatch(/^home\//);
      expect(offered('wf run --params-file=note')).toEqual(['--params-file=notes.txt']);
      expect(offered("wf logs deploy 'fet")).toEqual(['fetch rows']);
      expect(offered('wf logs deploy load:')).toEqual(['load: all of $them']);
      expect(offered('wf nope ')).toEqual(['']);
    }));
});

/** A directory with workflows and a run, in which `wf` is the built program. */
function withWork(use: (place: Place) => Promise<void>): Promise<void> {
  const params = 'params:\n  - {name: ENV, enum: [dev, staging eu], default: dev}\n  - {name: ONLY, default: one}\n';
  const files = { 'deploy.yaml': steps, 'my flow.yml': steps, 'notes.txt': '', 'param.yaml': `${params}${steps}` };
  return withPlace(files, async (place) => {
    mkdirSync(join(place.cwd, 'bin'));
    symlinkSync(launcher, join(place.cwd, 'bin/wf'));
    mkdirSync(join(place.cwd, 'home/dags'), { recursive: true });
    place.write('home/dags/nightly.yaml', steps);
    expect((await place.wf('run', 'deploy.yaml')).code).toBe(0);
    await use(place);
  });
}

/** Types every line into a shell that has read `settings`, and looks at what the tabulator makes of it. */
function withShell(settings: string, name: 'bash' | 'zsh' | 'fish', command: string): Promise<void> {
  return withWork(async ({ cwd, env, write }) => {
    mkdirSync(join(cwd, 'zsh'));
    write(name === 'zsh' ? 'zsh/.zshrc' : 'rc', `${name === 'fish' ? '' : "PS1='ready> '\n"}${settings}\n`);
    const variables = Object.entries({ ...env, HOME: cwd, LANG: 'C.UTF-8' }).map(([key, value]) => `${key}='${value}'`);
    const start = `export ${variables.join(' ')} PATH="$PWD/bin:$PATH"; ${command}`;
    await withTmux({ columns: 120, rows: 30, cwd, command: start }, async (terminal) => {
      await untilShown(terminal, 'ready>');
      for (const [index, [typed, completed]] of lines.entries()) {
        expect([typed, await completedBy(terminal, typed, `#${index}#`)]).toEqual([typed, completed]);
      }
    });
  });
}

/** The line after the tab key. The next typed text appears only after the completion. */
async function completedBy(terminal: Tmux, typed: string, mark: string): Promise<string> {
  terminal.type('-l', typed);
  terminal.type('Tab');
  terminal.type('-l', mark);
  const shown = await untilShown(terminal, mark);
  terminal.type('C-u');
  const line = shown.split('\n').findLast((text) => text.includes(mark)) ?? '';
  return line.slice('ready> '.length, line.indexOf(mark)).trimEnd();
}
