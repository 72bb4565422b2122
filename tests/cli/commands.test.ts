import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PlannedStep } from '#core/plan.ts';
import { wf, withDirectory } from '../support/wf.ts';

const good = 'steps:\n  - name: a\n    command: echo hello\n';
const bad = 'steps:\n  - name: fetch\n    comand: curl -fsS example.com\n';

function withFiles<T>(files: Record<string, string>, use: (cwd: string) => Promise<T>): Promise<T> {
  return withDirectory((cwd) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
    return use(cwd);
  });
}

describe('wf validate', () => {
  it('shows every problem of every file with its position, and the valid files', async () => {
    await withFiles({ 'good.yaml': good, 'bad.yaml': bad }, async (cwd) => {
      const { code, stdout, stderr } = await wf(['validate', 'good.yaml', 'bad.yaml', 'missing.yaml'], { cwd });
      expect([code, stdout]).toEqual([2, 'good.yaml: valid\n']);
      expect(stderr).toContain(
        'error: unknown key "comand" in step "fetch"\n  ┌─ bad.yaml:3:5\n3 │     comand: curl -fsS example.com\n  │     ^^^^^^ did you mean "command"?',
      );
      expect(stderr).toContain('error: no workflow "missing.yaml"');
      expect(stderr).toMatch(/\n2 errors in \d files?\n$/);
    });
  });

  it('names the file of a problem of the whole file', async () => {
    await withFiles({ 'good.yaml': good, 'empty.yaml': '', 'list.yaml': '- a\n' }, async (cwd) => {
      const { stderr } = await wf(['validate', 'good.yaml', 'empty.yaml', 'list.yaml', 'none'], { cwd });
      expect(stderr).toContain('error: the file is empty\n  ┌─ empty.yaml:1:1\n');
      expect(stderr).toContain('error: the file is a list, not a workflow\n  ┌─ list.yaml:1:1\n');
      expect(stderr).toMatch(/\n3 errors in 3 files\n$/);
      const { stdout } = await wf(['validate', '--format', 'github', 'empty.yaml'], { cwd });
      expect(stdout).toMatch(/^::error file=empty\.yaml,line=1,/);
    });
  });

  it('prints no debug output of the YAML package', async () => {
    await withFiles({ 'good.yaml': good }, async (cwd) => {
      const { code, stdout, stderr } = await wf(['validate', 'good.yaml'], {
        cwd,
        env: { LOG_STREAM: '1', LOG_TOKENS: '1' },
      });
      expect([code, stdout, stderr]).toEqual([0, 'good.yaml: valid\n', '']);
    });
  });

  it('prints JSON with the documented shape', async () => {
    await withFiles({ 'good.yaml': good, 'bad.yaml': bad }, async (cwd) => {
      const { stdout } = await wf(['validate', '--format', 'json', 'good.yaml', 'bad.yaml'], { cwd });
      expect(JSON.parse(stdout)).toEqual({
        files: [
          { file: 'good.yaml', valid: true, diagnostics: [] },
          {
            file: 'bad.yaml',
            valid: false,
            diagnostics: [
              {
                severity: 'error',
                code: 'unknown-key',
                message: 'unknown key "comand" in step "fetch"',
                file: expect.stringMatching(/^\/.*\/bad\.yaml$/),
                line: 3,
                column: 5,
                endLine: 3,
                endColumn: 11,
                label: 'did you mean "command"?',
                help: expect.any(String),
              },
            ],
          },
        ],
      });
    });
  });

  it('prints annotations for GitHub', async () => {
    await withFiles({ 'bad.yaml': bad }, async (cwd) => {
      const { stdout } = await wf(['lint', '--format', 'github', 'bad.yaml'], { cwd });
      expect(stdout).toMatch(/^::error file=bad\.yaml,line=3,col=5/);
    });
  });

  it('reads standard input', async () => {
    const { code, stderr } = await wf(['validate', '-'], { input: bad });
    expect([code, stderr]).toEqual([2, expect.stringContaining('<stdin>:3:5')]);
  });
});

describe('wf dry', () => {
  const yaml = `params: NAME=world
env:
  - DAY: "\`date +%A\`"
steps:
  - name: first
    command: echo hello $NAME
    output: GREETING
  - name: second
    command: echo $GREETING on $DAY
    depends: first
`;

  it('shows the numbers that variables give, what is wrong with them, and those known only during a run', async () => {
    const numbers = `params: {N: 3, T: 90s}
timeoutSec: $T
maxActiveSteps: $T
steps:
  - {name: list, command: echo 2, output: TRIES}
  - {name: a, command: "true", retryPolicy: {limit: $N, intervalSec: $T}, timeoutSec: "\${T}", depends: list}
  - {name: b, command: "true", retryPolicy: {limit: $TRIES}, depends: list}
  - {name: c, command: "true", retryPolicy: {limit: $T}}
  - {name: each, parallel: {items: [1, 2], maxConcurrent: $N}, command: echo}
  - {name: ship, approval: {prompt: Ship it?, by: [anna, ops], input: WHY, timeoutSec: 90}}
`;
    await withFiles({ 'w.yaml': numbers }, async (cwd) => {
      const { stdout } = await wf(['dry', 'w.yaml', '--json'], { cwd });
      const { limits, steps } = JSON.parse(stdout);
      expect(limits).toEqual([
        'timeoutSec: 90',
        '"maxActiveSteps: $T" must be a whole number from 0 to 2147483647, got "90s"',
      ]);
      expect(steps.map(({ attempts, policies }: PlannedStep) => [attempts, ...policies])).toEqual([
        [1],
        [4, 'up to 4 attempts, 90s between them', 'timeoutSec: 90'],
        [1, 'retryPolicy.limit: $TRIES'],
        [1, '"retryPolicy.limit: $T" must be a whole number from 0 to 2147483647, got "90s"'],
        [1, 'runs for each of 2 items: 0, 2; at most 3 at once'],
        [1, 'waits for approval by anna or ops: Ship it?; asks for WHY; rejected after 90s'],
      ]);
      expect((await wf(['dry', 'w.yaml'], { cwd })).stdout).toContain('\nlimit: timeoutSec: 90\n');
    });
  });

  it('prints the plan and runs nothing', async () => {
    await withFiles({ 'w.yaml': yaml }, async (cwd) => {
      const { code, stdout } = await wf(['dry', 'w.yaml', '--json', '--', 'you'], { cwd });
      expect([code, JSON.parse(stdout)]).toEqual([
        0,
        {
          workflow: 'w',
          params: [{ name: 'NAME', value: 'you' }],
          env: { DAY: '`date +%A`' },
          dotenv: [],
          unreadDotenv: null,
          waves: [['first'], ['second']],
          steps: [
            {
              name: 'first',
              depends: [],
              executor: 'command',
              command: 'echo hello $NAME',
              values: { NAME: 'you' },
              dir: cwd,
              attempts: 1,
              policies: [],
              skipped: null,
            },
            {
              name: 'second',
              depends: ['first'],
              executor: 'command',
              command: 'echo $GREETING on $DAY',
              values: { DAY: '`date +%A`' },
              dir: cwd,
              attempts: 1,
              policies: [],
              skipped: null,
            },
          ],
          handlers: [],
          skipped: null,
        },
      ]);
    });
  });

  it.each([
    [`printf '%s' '$X' "$X" \\$X "a'b $X" \${X:-d}`, undefined, ['X']],
    [`sh -c 'echo $1 $Z' sh $X | cat\necho \${Y:-no}`, undefined, ['X', 'Y']],
    [`rm -rf /$MADE/$OUT`, undefined, []],
    [['awk', '{print $2}', '$X', 'it`s "$Y" \\$X'], `awk '{print $2}' "$X" "it\\\`s \\"$Y\\" \\$X"`, ['X', 'Y']],
    [['sh', '-c', 'echo $X'], `sh -c 'echo $X'`, ['X']],
  ])('shows the command %j as written, with the known values beside it', async (command, shown, names) => {
    const values = { X: 'x; y', Y: '' };
    const steps = [
      { name: 'a', command, depends: 'b' },
      { name: 'b', command: 'echo', output: 'OUT' },
    ];
    const handlerOn = { init: { command: 'mktemp -d', output: 'MADE' } };
    await withFiles({ 'w.yaml': JSON.stringify({ env: values, steps, handlerOn }) }, async (cwd) => {
      const { stdout } = await wf(['dry', 'w.yaml', '--json'], { cwd });
      expect(JSON.parse(stdout).steps[0]).toMatchObject({
        command: shown ?? command,
        values: Object.fromEntries(Object.entries(values).filter(([name]) => names.includes(name))),
      });
      expect(Object.keys(JSON.parse(stdout).steps[0].values)).toEqual(names);
    });
  });

  it('shows a script as written, with the known values below it', async () => {
    const yaml = `env: [{X: "x; y"}, {KEY: hidden-value}]
secrets: [KEY]
steps:
  - name: a
    script: |
      set -e
      if true; then
        echo "$X" \${NONE:-no} $KEY hidden-value
      fi
  - {name: b, depends: a, command: python3, script: "import os\\nprint(1)"}
  - {name: c, depends: b, executor: jq, script: '{"a": 1}', command: .a}
`;
    await withFiles({ 'w.yaml': yaml }, async (cwd) => {
      const { stdout } = await wf(['dry', 'w.yaml'], { cwd });
      const values = (names: readonly string[]) => names.map((name) => `       ${name}\n`).join('');
      expect(stdout.split('wave 1\n')[1]).toBe(
        `  a  set -e
     if true; then
       echo "$X" \${NONE:-no} $KEY ***
     fi
${values(["X='x; y'", 'KEY=***'])}
wave 2
  b  python3:
     import os
     print(1)

wave 3
  c  jq: .a: {"a": 1}
`,
      );
    });
  });

  it('shows no secret beside a command', async () => {
    const steps = [{ name: 'a', command: 'curl -H $KEY' }];
    await withFiles({ 'w.yaml': JSON.stringify({ secrets: ['KEY'], steps }) }, async (cwd) => {
      const { stdout } = await wf(['dry', 'w.yaml'], { cwd, env: { KEY: 'hidden-value' } });
      expect(stdout).toContain('\n  a  curl -H $KEY\n       KEY=***\n');
      expect(stdout).not.toContain('hidden-value');
    });
  });

  it('is what run --dry-run prints', async () => {
    await withFiles({ 'w.yaml': yaml }, async (cwd) => {
      const dry = await wf(['dry', 'w.yaml'], { cwd });
      expect(await wf(['run', '--dry-run', 'w.yaml'], { cwd })).toEqual(dry);
      expect(dry.stdout).toContain('wave 2');
    });
  });
});

describe('wf graph', () => {
  it.each([
    ['mermaid', 'flowchart'],
    ['dot', 'digraph'],
    ['json', '"nodes"'],
    ['ascii', 'a'],
  ])('draws %s', async (format, expected) => {
    await withFiles({ 'w.yaml': good }, async (cwd) => {
      const { code, stdout } = await wf(['graph', 'w.yaml', '--format', format], { cwd });
      expect([code, stdout]).toEqual([0, expect.stringContaining(expected)]);
    });
  });
});

describe('wf convert', () => {
  const file = '# first\nsteps:\n  - id: a\n    run: echo a | cat\n';
  const converted = '# first\nsteps:\n  - id: a\n    command: echo a | cat\n';

  it('writes a file of another form with the keys of wf', async () => {
    await withFiles({ 'w.yaml': file }, async (cwd) => {
      expect(await wf(['convert', 'w.yaml'], { cwd })).toMatchObject({ code: 0, stdout: converted, stderr: '' });
      expect(await wf(['convert', '-'], { cwd, input: file })).toMatchObject({ code: 0, stdout: converted });
      const written = await wf(['convert', 'w.yaml', '-o', 'new.yaml'], { cwd });
      expect(written).toMatchObject({ code: 0, stdout: 'wrote new.yaml: wf run new.yaml runs it\n' });
      expect(readFileSync(join(cwd, 'new.yaml'), 'utf8')).toBe(converted);
      const unchanged = await wf(['convert', 'new.yaml'], { cwd });
      const stderr = 'new.yaml has only keys of wf: nothing is changed\n';
      expect(unchanged).toMatchObject({ code: 0, stdout: converted, stderr });
    });
  });

  it('overwrites a file only with --force', async () => {
    await withFiles({ 'w.yaml': file }, async (cwd) => {
      const refused = await wf(['convert', 'w.yaml', '-o', 'w.yaml'], { cwd });
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('"w.yaml" exists already')]);
      expect(readFileSync(join(cwd, 'w.yaml'), 'utf8')).toBe(file);
      expect((await wf(['convert', 'w.yaml', '-o', 'w.yaml', '--force'], { cwd })).code).toBe(0);
      expect(readFileSync(join(cwd, 'w.yaml'), 'utf8')).toBe(converted);
      expect(await wf(['convert', 'w.yaml', '--force'], { cwd })).toMatchObject({ code: 2, stdout: '' });
    });
  });

  it('refuses what wf does not have by its name, and writes nothing', async () => {
    await withFiles({ 'w.yaml': 'steps: [{id: a, action: k8s.run}]\n' }, async (cwd) => {
      const { code, stdout, stderr } = await wf(['convert', 'w.yaml', '-o', 'new.yaml'], { cwd });
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining('the action "k8s.run" is not supported')]);
      expect(existsSync(join(cwd, 'new.yaml'))).toBe(false);
    });
  });
});

describe('wf schema', () => {
  it('prints the JSON Schema', async () => {
    const { code, stdout } = await wf(['schema']);
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { $schema: 'https://json-schema.org/draft/2020-12/schema' }]);
  });

  it('prints the one of another form, as a whole', async () => {
    const { code, stdout } = await wf(['schema', '--form', 'dagu']);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      { title: 'Dagu 2.15', $defs: { step: { properties: { run: {} } } } },
    ]);
    expect(await wf(['schema', 'steps', '--form', 'dagu'])).toMatchObject({ code: 2, stdout: '' });
  });

  it('explains a key', async () => {
    const { stdout } = await wf(['schema', 'steps.retryPolicy']);
    expect(stdout).toMatch(/^steps\.retryPolicy {2}map/);
    expect(stdout).toContain('limit');
  });

  it('suggests a similar key for an unknown one', async () => {
    const { code, stderr } = await wf(['schema', 'steps.retryPolicie']);
    expect([code, stderr]).toEqual([
      2,
      'error: there is no key "steps.retryPolicie" in a workflow file\n  help: did you mean "steps.retryPolicy"?\n',
    ]);
  });
});

describe('wf version', () => {
  it('prints the same as --version', async () => {
    const [command, flag] = [await wf(['version']), await wf(['--version'])];
    expect(command).toEqual(flag);
    expect(command.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('--dags', () => {
  it('names another workflows directory', async () => {
    await withFiles({}, async (cwd) => {
      mkdirSync(join(cwd, 'flows'));
      writeFileSync(join(cwd, 'flows/nightly.yaml'), good);
      const byFlag = await wf(['validate', 'nightly', '--dags', 'flows'], { cwd });
      const byVariable = await wf(['validate', 'nightly'], { cwd, env: { WF_DAGS: 'flows' } });
      expect([byFlag.code, byVariable.code]).toEqual([0, 0]);
    });
  });
});

describe('wf help', () => {
  it('lists all names of a command', async () => {
    expect((await wf(['start-all', '--help'])).stdout).toMatch(
      /^Usage: wf serve\|server\|start-all\|scheduler \[options\]\n/,
    );
  });
});
