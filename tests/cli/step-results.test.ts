import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { withPlace } from '../support/past-runs.ts';

const yaml = `
steps:
  - id: look
    name: the look
    command: sh -c 'echo "[1.0, {\\"ip\\":\\"::1\\"}]"; echo bad >&2; exit 3'
    output: FOUND
    continueOn: {exitCode: 3}
  - name: words
    command: [cat, "\${look.stdout}", "\${look.stderr}"]
    depends: look
  - name: shell
    command: cat < \${look.stderr} && echo "\${look.exitCode} \${look.status} \${look.output[0]} \${look.output[1].ip}"
    depends: words
  - name: own env
    command: printenv WHOLE CODE
    env: [{WHOLE: "\${look.output}"}, {CODE: "\${look.exit_code}"}]
    depends: words
  - name: none
    command: echo "[\${words.output:-no output}]" $look
    depends: words
  - name: guarded
    command: echo never
    depends: look
    preconditions: [{condition: "\${look.status}", expected: succeeded}]
handlerOn:
  exit: {command: "echo \${guarded.status} \${guarded.stdout:-no log}"}
`;

describe('the result of a step', () => {
  it('is available to later steps and handlers', () =>
    withPlace({ 'w.yaml': yaml }, async ({ wf }) => {
      const { code, stdout } = await wf('run', 'w.yaml', '--reporter', 'plain');
      expect(code).toBe(0);
      const lines = stdout.split('\n').flatMap((line) => line.split(' | ')[1] ?? []);
      expect(lines).toEqual(
        expect.arrayContaining(['[1.0, {"ip":"::1"}]', '3 failed 1.0 ::1', '[1.0,{"ip":"::1"}]', '3', '[no output]']),
      );
      expect(lines.filter((line) => line === 'bad')).toHaveLength(3);
      expect(lines.at(-1)).toMatch(/^skipped \/.*guarded/);
    }));

  it('is kept for a retry, with the logs of the run in which the step ended', () =>
    withPlace(
      {
        'w.yaml': `steps:
  - {id: give, command: echo given}
  - {id: use, command: "sh -c 'cat $0; exit 1' \${give.stdout}", depends: give}`,
      },
      async ({ wf, json }) => {
        await wf('run', 'w.yaml');
        const { runId } = await json<RunSummary>('status', '@latest');
        await wf('retry', '@latest');
        const { stdout } = await wf('retry', '@latest');
        expect(stdout).toContain('| given');
        const { steps } = await json<RunSummary>('status', '@latest');
        expect(readFileSync(steps.find(({ name }) => name === 'use')?.log ?? '', 'utf8')).toBe('given\n');
        expect(steps.map(({ name, attempts }) => [name, attempts])).toEqual([
          ['give', 0],
          ['use', 1],
        ]);
        expect((await wf('logs', runId, 'give')).stdout).toContain('given');
      },
    ));

  it('has the outputs of a sub-workflow, also after a retry', () =>
    withPlace(
      {
        'child.yaml': `steps:
  - {name: one, command: "echo http://x", output: ADDRESS}
  - {name: two, command: "echo '[1.0, 2]'", output: LIST}`,
        'w.yaml': `steps:
  - {id: quiet, name: the child, run: child}
  - {id: named, run: child, output: NAMED}
  - name: use
    command: echo "\${quiet.outputs.ADDRESS} \${quiet.outputs.LIST[0]} \${named.outputs.ADDRESS} \${quiet.outputs.NO:-none}"
    depends: [quiet, named]
  - {name: wrong, command: "echo \${quiet.outputs.ADRESS}", depends: use}`,
      },
      async ({ wf, json }) => {
        const { stdout } = await wf('run', 'w.yaml', '--reporter', 'plain');
        expect(stdout).toMatch(/\[use\] +\| http:\/\/x 1.0 http:\/\/x none/);
        const { steps } = await json<RunSummary>('status', 'w');
        expect(steps.find(({ name }) => name === 'wrong')?.error).toBe(
          '"${quiet.outputs.ADRESS}": quiet.outputs has no "ADRESS" (it has ADDRESS, LIST)',
        );
        expect(steps[0]?.outputs).toEqual({ ADDRESS: 'http://x', LIST: '[1.0, 2]' });
        expect((await wf('retry', 'w', '--from', 'use')).stdout).toContain('http://x 1.0 http://x none');
      },
    ));

  it('has the real value of a secret output of a sub-workflow, which is never shown', () =>
    withPlace(
      {
        'child.yaml': `secrets: [{name: TOKEN, file: token}]
steps: [{name: one, command: "printenv TOKEN", output: KEY}]`,
        token: 'hidden-4711\n',
        'w.yaml': `steps:
  - {id: sub, run: child}
  - {name: use, depends: sub, command: "sh -c 'echo got $0; echo $0 | cmp - token && echo same' \${sub.outputs.KEY}"}`,
      },
      async ({ wf, json }) => {
        const { code, stdout } = await wf('run', 'w.yaml', '--reporter', 'plain');
        expect([code, stdout]).toEqual([0, expect.stringMatching(/\[use\] \| got \*\*\*\n.*\[use\] \| same\n/)]);
        const { steps } = await json<RunSummary>('status', 'w');
        expect(steps[0]?.outputs).toEqual({ KEY: '***' });
        expect(stdout).not.toContain('hidden-4711');
      },
    ));

  it('is unknown before a run, and a variable of the same name wins', () =>
    withPlace(
      {
        'w.yaml': `${yaml.replace('steps:', 'env: [{words: \'{"status": "mine"}\'}]\nsteps:').replace('no output}]', 'x}-${words.status}]')}`,
      },
      async ({ wf }) => {
        const { stdout } = await wf('dry', 'w.yaml');
        expect(stdout).toMatch(/words +cat "\$\{look.stdout\}" "\$\{look.stderr\}"/);
        expect(stdout).not.toMatch(/guarded .*would be skipped/);
        expect((await wf('run', 'w.yaml')).stdout).toContain('[x-mine]');
      },
    ));
});
