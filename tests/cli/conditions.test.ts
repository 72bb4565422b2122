import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { wf, withDirectory } from '../support/wf.ts';

/** The summary and the exit code of a run of a workflow. */
function run(workflow: string): Promise<{ code: number | null; summary: RunSummary; stdout: string }> {
  return withDirectory(async (cwd) => {
    writeFileSync(join(cwd, 'w.yaml'), workflow);
    const env = { WF_HOME: join(cwd, 'home') };
    const { code, stdout } = await wf(['run', 'w.yaml', '--run-id', 'r'], { cwd, env });
    const status = await wf(['status', 'r', '--json'], { cwd, env });
    return { code, summary: JSON.parse(status.stdout), stdout };
  });
}

function steps({ steps }: RunSummary) {
  return steps.map(({ name, status, reason, error }) => ({ name, status, reason, error }));
}

const success = 'handlerOn: {success: {command: echo all is saved}, failure: {command: echo call for help}}';

describe('a precondition that cannot be evaluated fails its step', () => {
  it.each([
    ['a missing directory', 'dir: /missing', 'test 1 = 1', 'directory "/missing" does not exist'],
    ['a missing shell', 'shell: /no/shell', 'test 1 = 1', 'command not found: "/no/shell"'],
    ['a shell that is not one', 'shell: a | b', 'test 1 = 1', 'shell "a | b" is not a program with its options'],
    ['a missing program', '', 'no-such-program -q', 'command not found: "no-such-program"'],
    ['a missing program in a pipe', '', 'no-such-program | grep x', 'command not found: "no-such-program"'],
    [
      'a missing program before another command',
      '',
      'no-such-program || false',
      'command not found: "no-such-program"',
    ],
    ['a test of bash in sh', '', '[[ a == b ]]', 'command not found: "[["'],
    ['too much output', '', 'yes | head -c 1100000', 'it printed more than 1048576 bytes'],
  ])('%s', async (_, setting, condition, why) => {
    const { code, summary, stdout } = await run(`steps:
  - name: backup
    command: echo saved
    ${setting}
    preconditions: ["${condition}"]
${success}
`);
    const error = `precondition "${condition}" cannot be evaluated: ${why}`;
    expect(steps(summary)).toEqual([{ name: 'backup', status: 'failed', reason: 'error', error }]);
    expect([code, summary.status]).toEqual([1, 'failed']);
    expect(stdout).toContain('call for help');
    expect(stdout).not.toContain('saved');
  });

  it('with a command in the compared value, and a pattern that only a variable makes invalid', async () => {
    const { code, summary } = await run(`params: BAD=(
steps:
  - name: value
    command: echo ran
    dir: /missing
    preconditions: [{condition: "\`date +%u\`", expected: "1"}]
  - name: pattern
    command: echo ran
    preconditions: [{condition: abc, expected: "re:$BAD"}]
`);
    expect(code).toBe(1);
    expect(steps(summary).map(({ name, error }) => [name, error])).toEqual([
      ['value', 'precondition "`date +%u`" cannot be evaluated: directory "/missing" does not exist'],
      ['pattern', 'precondition "abc" cannot be evaluated: "re:(" is not a regular expression: missing closing ): `(`'],
    ]);
  });

  it('a value that a missing program would print', async () => {
    const { code, summary } = await run(`steps:
  - name: value
    command: echo ran
    preconditions: [{condition: "\`no-such-program\`", expected: ""}]
`);
    const error = 'precondition "`no-such-program`" cannot be evaluated: command not found: "no-such-program"';
    expect(code).toBe(1);
    expect(steps(summary)).toEqual([{ name: 'value', status: 'failed', reason: 'error', error }]);
  });

  it('not one whose program looks for another, or that exits with 127 itself', async () => {
    const { code, summary } = await run(`steps:
  - {name: lookup, command: echo ran, preconditions: command -v no-such-program}
  - {name: own code, command: echo ran, preconditions: "sh -c 'exit 127'"}
  - {name: list, command: echo ran, preconditions: "false || no-such-program"}
`);
    expect(code).toBe(0);
    expect(steps(summary).map(({ status }) => status)).toEqual(['skipped', 'skipped', 'skipped']);
  });

  it('is evaluated again at a retry, which does not run the step without it', async () => {
    const { code, summary } = await run(`steps:
  - name: work
    command: echo work
    preconditions: 'test -e seen && exit 3; touch seen; yes | head -c 1100000'
    retryPolicy: {limit: 1, intervalSec: 0}
`);
    expect(code).toBe(0);
    expect(summary.steps[0]).toMatchObject({ status: 'skipped', attempts: 2 });
  });

  it('of a handler: the run fails', async () => {
    const { code, summary } = await run(`steps: [{name: a, command: "true"}]
handlerOn: {success: {command: echo saved, dir: /missing, preconditions: "true"}}
`);
    expect([code, summary.status, summary.reason]).toEqual([1, 'failed', 'handler']);
  });

  it('at the top: nothing runs, and the run fails', async () => {
    const { code, summary, stdout } = await run(`shell: /no/shell
preconditions: test 1 = 1
steps: [{name: a, command: echo ran}]
${success}
`);
    expect([code, summary.status, summary.reason]).toEqual([1, 'failed', 'error']);
    expect(stdout).toContain('precondition "test 1 = 1" cannot be evaluated: command not found: "/no/shell"');
    expect(stdout).not.toContain('ran');
  });
});

describe('a tolerated output', () => {
  it.each([
    [
      'is found in a long line of either stream',
      'head -c 3000000 /dev/zero | tr "\\0" x >&2; echo late >&2; exit 3',
      0,
    ],
    ['is not found in a log that the step has removed', 'rm "$WF_LOG_FILE"; echo late; exit 3', 1],
    ['is not found in a log that the step has replaced', 'ln -sf /dev/zero "$WF_LOG_FILE"; echo late; exit 3', 1],
  ])('%s', async (_, script, expected) => {
    const { code, summary } = await run(`steps:
  - name: a
    script: ${JSON.stringify(script)}
    continueOn: {output: [late]}
  - {name: b, command: echo b, depends: a}
`);
    const status = expected === 0 ? ['failed', 'succeeded'] : ['failed', 'upstream_failed'];
    expect([code, summary.steps.map((step) => step.status)]).toEqual([expected, status]);
    expect(summary.steps[0]?.error).toBe('exit 3');
  });
});
