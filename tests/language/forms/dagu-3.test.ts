import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadWorkflow } from '#language/load.ts';
import { locateSteps } from '#language/locate.ts';
import { wf, withDirectory } from '../../support/wf.ts';
import { codesOf, workflowOf } from '../load-text.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/reference/dagu-3-actions.md'), 'utf8');

/** The first step of a text, without what every step has. */
function stepOf(lines: string, rest = '', others = ''): Record<string, unknown> {
  const [step] = workflowOf(`${rest}steps:\n  - ${lines.trim().replaceAll('\n', '\n    ')}\n${others}`).steps;
  const { command, script, args, shell, executor, env, stdout, approval } = step ?? {};
  const kept = { command, script, args, shell, executor, env, stdout, approval };
  const isUsual = (value: unknown) =>
    value === null || value === undefined || JSON.stringify(value) === '{"type":"command","config":{}}';
  return Object.fromEntries(
    Object.entries(kept).filter(([, value]) => !isUsual(value) && !(Array.isArray(value) && value.length === 0)),
  );
}

/** The form of a text and what its steps run. */
function readAs(text: string): readonly unknown[] {
  const { workflow, form } = loadWorkflow({ text, file: null, dir: '/' });
  const runs = workflow?.steps.map(({ command, script, executor }) => command ?? script ?? executor.config['run']);
  return [form ?? 'own', ...(runs ?? ['invalid'])];
}

describe('the form of a file', () => {
  it.each([
    ['steps: [{run: make test}]', ['dagu-2.15', 'make test']],
    ['steps: [{run: "a|b"}]', ['dagu-2.15', 'a|b']],
    ['steps: [{run: [make, test]}]', ['dagu-2.15', 'make && test']],
    ['steps: [{run: "a\\nb"}]', ['dagu-2.15', 'a\nb']],
    ['steps: {one: {run: make test}}', ['dagu-2.15', 'make test']],
    ['steps: [{action: noop}]', ['dagu-2.15', 'true']],
    ['steps: [{Action: noop}]', ['dagu-2.15', 'true']],
    ['consts: [{a: b}]\nsteps: [{run: make}]', ['dagu-2.15', 'make']],
    ['# dagu: 3\nsteps: [{run: make}]', ['dagu-2.15', 'make']],
    ['handler_on: {exit: {run: make clean}}\nsteps: [{run: make}]', ['dagu-2.15', 'make']],
    ['steps: [{run: my report}]', ['dagu-2.15', 'my report']],
    ['steps: [{run: make}]', ['own', 'make']],
    ['steps: [{run: make, params: A=1}]', ['own', 'make']],
    ['steps: [{run: my report, params: A=1}]', ['own', 'my report']],
    ['steps: [{run: my report.yaml}]', ['own', 'my report.yaml']],
    ['steps: [{run: $CHILD}]', ['own', '$CHILD']],
    ['steps: [{run: ./reports/daily}]', ['own', './reports/daily']],
    ['steps: [{command: "echo action: x"}]', ['own', 'echo action: x']],
    ['steps: [{run: make}]\n---\nname: b\nsteps: [{run: make test}]', ['dagu-2.15', 'make']],
  ])('%j', (text, expected) => {
    expect(readAs(text)).toEqual(expected);
  });

  it('depends on no other word of the file', () => {
    // Names of workflows, in files of the form of wf; words of commands, in the other form.
    const words = Array.from({ length: 100 }, (_, at) => `w${at}${['', '.yaml', '/x', '-y', '_z'][at % 5]}`);
    for (const word of words) {
      const rest = `name: n\ndescription: "run: a b"\nenv: [RUN: "a b"]\nsteps:\n  - {name: a, command: "run: x y"}\n`;
      expect(readAs(`${rest}  - {name: b, depends: a, run: ${word}}\n`)).toEqual(['own', 'run: x y', word]);
      expect(readAs(`steps: [{id: a, run: ${word}}, {id: b, run: ${word} now}]`)).toEqual([
        'dagu-2.15',
        word,
        `${word} now`,
      ]);
    }
  });
});

describe('a step', () => {
  it('has one line of "run" as command, several as script', () => {
    expect(stepOf('run: echo "$A"')).toEqual({ command: 'echo "$A"' });
    expect(stepOf('run: |\n  one\n  two')).toEqual({ script: 'one\ntwo\n' });
    expect(stepOf('run: [echo a, "", cd /, b]')).toEqual({ command: 'echo a && (cd /) && b' });
    expect(stepOf('run: ["echo: a", echo: b]')).toEqual({ command: 'echo: a && echo: b' });
  });

  it('has the shell and its arguments without -c', () => {
    expect(stepOf('run: echo a\nwith: {shell: bash -e, shell_args: [-u, -c]}')).toEqual({
      command: 'echo a',
      shell: 'bash -e -u',
    });
    expect(workflowOf('shell: bash\nshell_args: [-e]\nsteps: [{run: echo a}]').shell).toBe('bash -e');
  });

  it('may be an alias, or have keys of one', () => {
    const text = `x-a: &a {action: http.request}\nsteps:\n  - &b {<<: *a, id: one, with: {url: http://a}}\n  - *b\n`;
    expect(
      loadWorkflow({ text: text.replace('- *b', '- {<<: *b, id: two}'), file: null, dir: '/' }).diagnostics,
    ).toEqual([]);
    expect(codesOf(text)).toEqual(['duplicate-step']);
    const bomb = `x-a: &a [${'1,'.repeat(300)}]\nx-b: &b [${'*a,'.repeat(300)}]\nsteps: [{run: echo a, env: *b}, {run: *b}]\n`;
    expect(codesOf(bomb)).toContain('alias-limit');
  });

  it('is found at its position', () => {
    const source = {
      path: '-',
      text: 'steps:\n  - {id: a, run: make all}\n  - run: make all\n  - action: exec\n    with: {command: ls}\n',
    };
    const places = [...locateSteps([source], ['a', 'make', 'ls'])].map(([name, { start }]) => `${name} ${start.line}`);
    expect(places).toEqual(['a 2', 'make 3', 'ls 4']);
  });
});

/** A file for each action with a counterpart, and the step that it is. */
const known: { readonly [action: string]: readonly [settings: string, step: object] } = {
  noop: ['', { command: 'true' }],
  exec: ['{command: my prog, args: [a b, $X]}', { command: ['my prog', 'a b', '$X'] }],
  'log.write': ['{message: hi, level: info}', { command: ['printf', '%s\\n', 'hi'] }],
  'http.request': [
    '{method: POST, url: "http://a/b c", json: true}',
    { command: ['POST', 'http://a/b c'], executor: { type: 'http', config: { json: true } } },
  ],
  'docker.run': [
    '{image: alpine, container_name: n, auto_remove: false, pull: never, env: [A=b], command: ls}',
    {
      command: 'ls',
      executor: {
        type: 'docker',
        config: {
          image: 'alpine',
          pull: 'never',
          containerName: 'n',
          autoRemove: false,
          container: { env: ['A=b'] },
          fileDir: '/',
        },
      },
    },
  ],
  'container.run': [
    '{image: alpine, host: {binds: [/a:/b]}, auto_remove: true}',
    { executor: { type: 'docker', config: { image: 'alpine', host: { binds: ['/a:/b'] }, autoRemove: true } } },
  ],
  'ssh.run': [
    '{host: h, user: u, strict_host_key: false, command: ls}',
    { command: 'ls', executor: { type: 'ssh', config: { host: 'h', user: 'u', strictHostKeyChecking: false } } },
  ],
  'mail.send': ['{to: a@b.c, subject: 5}', { executor: { type: 'mail', config: { to: 'a@b.c', subject: '5' } } }],
  'jq.filter': ['{filter: .a, input: f.json, raw: true}', { command: ['jq', '-r', '.a', 'f.json'] }],
  'template.render': [
    '{template: "a {{ .b.c }}", data: {b: {c: 1}}, output: f}',
    { command: ['printf', '%s', 'a 1'], stdout: 'f' },
  ],
  'dag.run': [
    '{dag: child, params: {A: 1, B: [1, x]}}',
    { executor: { type: 'workflow', config: { run: 'child', params: 'A=1 B=[1,"x"]' } } },
  ],
  'dag.enqueue': ['{dag: child, params: {A: 1}}', { command: ['wf', 'run', '--detach', 'child', '--', 'A=1'] }],
  'human.task': [
    '{prompt: go, form: {type: object, properties: {A: {type: integer, oneOf: [{const: 1, title: x}]}}, required: [A]}}',
    {
      approval: {
        prompt: 'go',
        inputs: [{ name: 'A', default: '', rule: { type: 'integer', required: true, choices: ['1'] } }],
        by: [],
        timeoutMs: 0,
        onTimeout: 'reject',
      },
    },
  ],
  'router.route': ['{value: $HOME, routes: {}}', { command: ['echo', 'Router evaluating:', '$HOME'] }],
  'outputs.write': ['{values: {a: b}}', { command: 'true' }],
  'wait.duration': ['{duration: 1m30s}', { command: ['sleep', '90'] }],
  'wait.until': ['{until: "2026-01-01T00:00:00Z"}', { args: ['2026-01-01T00:00:00Z'] }],
  'wait.file': ['{path: ~/a, poll_interval: 2s}', { args: [`\${HOME}/a`, '2'] }],
  'wait.http': ['{url: http://a, status: 204}', { args: ['http://a', '204', 'GET', '10', '5'] }],
  'file.read': ['{path: a}', { args: ['a'] }],
  'file.stat': ['{path: a, missing_ok: true}', { args: ['a'] }],
  'file.list': ['{path: a, pattern: "**/*.{c,h}", recursive: true}', { args: ['.', '^(.*/)?[^/]*\\.(c|h)$', 'a'] }],
  'file.mkdir': ['{path: a, mode: "0700"}', { args: ['a', '0700'] }],
  'file.write': ['{path: a, content: b}', { args: ['a', 'b', '0600'] }],
  'artifact.write': ['{path: a/b.txt, content: c}', { args: ['a/b.txt', 'c', '0600'] }],
  'artifact.read': ['{path: a.txt}', { args: ['${w.artifacts}/a.txt'] }],
  'artifact.list': ['{path: reports}', { args: ['reports', '', '${w.artifacts}'] }],
  'file.copy': ['{source: a, destination: b}', { args: ['a', 'b'] }],
  'file.move': ['{source: a, destination: b}', { args: ['a', 'b'] }],
  'file.delete': ['{path: a, missing_ok: true}', { args: ['a'] }],
  'archive.create': ['{source: a, destination: b.zip}', { args: ['a', 'b.zip'] }],
  'archive.extract': ['{source: b.tgz, destination: a}', { args: ['b.tgz', 'a'] }],
  'archive.list': ['{source: b.tgz}', { args: ['b.tgz'] }],
  'git.checkout': ['{repository: r, path: p, ref: main}', { args: ['r', 'p', 'main', ''] }],
};

/** The rows of the page: each action and whether wf has it. */
const rows = [...page.matchAll(/^\| ((?:`[\w.<>]+`(?:, )?)+) \| (yes|no) \|/gm)].flatMap(([, names = '', here = '']) =>
  [...names.matchAll(/`([\w.<>]+)`/g)].map(([, name = '']) => [name, here] as const),
);

describe('each action of the page', () => {
  it('has a test', () => {
    expect(rows.filter(([, here]) => here === 'yes').map(([name]) => name)).toEqual(Object.keys(known));
    expect(rows.length).toBeGreaterThan(40);
  });

  it.each(Object.entries(known))('%s is a step of wf', (action, [settings, step]) => {
    const top = 'smtp: {host: h}\nmail_on: {failure: false}\n';
    const isReader = action === 'artifact.read' || action === 'artifact.list';
    const writer = '  - {id: w, action: artifact.write, with: {path: a.txt, content: b}}\n';
    const depends = isReader ? '\ndepends: w' : '';
    const read = stepOf(
      `id: a\naction: ${action}${settings === '' ? '' : `\nwith: ${settings}`}${depends}`,
      top,
      isReader ? writer : '',
    );
    expect(read).toMatchObject(step);
    if (!('args' in step)) expect(read).toEqual(step);
    else expect(read['script']).toMatch(/^#!\/bin\/sh\naction=[\w.]+\nset -e\n/);
  });

  it.each(rows.filter(([, here]) => here === 'no'))('%s is refused with a way out', (name) => {
    const text = `steps: [{id: a, action: ${name.replace('<operation>', 'get')}, with: {}}]`;
    const { diagnostics } = loadWorkflow({ text, file: null, dir: '/' });
    expect(diagnostics.map(({ code }) => code)).toEqual(['not-supported']);
    expect(diagnostics[0]?.help).toMatch(/^(?:Write|Read) /);
  });
});

describe('an artifact', () => {
  const text = (path: string, reader = 'path: a.txt', depends = 'depends: w, ') =>
    `steps:\n  - {id: w, action: artifact.write, with: {path: ${path}, content: x}}\n  - {id: r, ${depends}action: artifact.read, with: {${reader}}}\n`;

  it('is kept with the run, and read by a step that depends on its writer', async () => {
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'w.yaml'), text('a.txt').replace('content: x', 'content: "it\'s $HOME"'));
      const { code, stdout } = await wf(['run', 'w.yaml', '--reporter', 'plain'], {
        cwd,
        env: { HOME: '/h', WF_HOME: cwd },
      });
      expect([code, stdout]).toEqual([0, expect.stringMatching(/\[r\] \| it's \/h\n/)]);
      const listed = await wf(['artifacts', 'w'], { cwd, env: { WF_HOME: cwd } });
      expect(listed.stdout).toContain('w/a.txt');
    });
    expect(workflowOf(text('a.txt')).steps[0]?.artifacts).toEqual([]);
  });

  it.each([
    [text('a.txt', 'path: a.txt', ''), 'missing-dependency'],
    [text('b.txt'), 'not-supported'],
    [text('a.txt', 'path: a.txt, format: yaml'), 'wrong-value'],
    [text('a.txt', 'pattern: "*"', '').replace('artifact.read', 'artifact.list'), 'missing-dependency'],
    [text('../a.txt', 'path: ../a.txt'), 'wrong-value'],
    [text('/a.txt', 'path: /a.txt'), 'wrong-value'],
  ])('%s: %s', (file, code) => {
    expect(codesOf(file)).toContain(code);
  });
});

describe('published values', () => {
  const published = (lines: string) => workflowOf(`steps:\n  - {id: a, ${lines}}\n`).steps[0]?.published;

  it('are texts with variables, or fields of a stream', () => {
    const text = { from: 'text', text: 'v${V}', decode: 'text' };
    expect(published('action: outputs.write, with: {values: {a: "v${env.V}", b: x}}')).toEqual([
      { key: 'a', value: text },
      { key: 'b', value: { literal: 'x' } },
    ]);
    expect(workflowOf('# dagu: 3\nsteps: [{id: a, output: {a: "v${env.V}"}}]').steps[0]).toMatchObject({
      command: 'true',
      published: [{ key: 'a', value: text }],
    });
    expect(published('run: echo a, stderr: {outputs: {fields: {a: {decode: json, select: .id}}}}')).toEqual([
      { key: 'a', value: { from: 'stderr', decode: 'json', select: '.id' } },
    ]);
  });
});

describe('a router', () => {
  const text = (targets: string) =>
    `steps:\n  - {id: r, action: router.route, with: {value: "\${env.A}", routes: ${targets}}}\n  - {id: b, run: echo b, depends: x}\n  - {id: x, run: echo x}\n`;

  it('gives its steps a condition, and lets others follow a skipped one', () => {
    const [, b] = workflowOf(text('{"re:^5": [b]}')).steps;
    expect(b).toMatchObject({
      depends: ['x', 'r'],
      preconditions: [{ condition: `\${A}`, expected: 're:^5' }],
      continueOn: { skipped: true },
    });
  });

  it('names steps that exist, each once', () => {
    expect(codesOf(text('{a: [b, c]}'))).toEqual(['missing-dependency']);
    expect(codesOf(text('{a: b, c: b}'))).toEqual(['conflicting-keys']);
  });
});

describe('a reference with a scope', () => {
  const commandOf = (line: string, rest = '') =>
    workflowOf(`${rest}steps:\n  - {id: a, command: "true", output: {v: 1}}\n  - id: b\n    depends: a\n    ${line}\n`)
      .steps[1] ?? {};

  it.each([
    ['echo ${params.A} ${env.B:-x} ${steps.a.outputs.v}', 'echo ${A} ${B:-x} ${a.outputs.v}'],
    ["echo '${params.A}' \\${env.B}", "echo '${params.A}' \\${env.B}"],
    ['echo ${context.run.id} "${context.dag.name}"', 'echo ${WF_RUN_ID} "${WF_WORKFLOW}"'],
    ['echo ${context.no.such} ${other.A}', 'echo \\${context.no.such} ${other.A}'],
  ])('in a file of wf: %s', (text, expected) => {
    expect(commandOf(`command: ${JSON.stringify(text)}`)).toMatchObject({ command: expected });
  });

  it.each([
    ["echo 'a ${params.A} b' $'${params.A}'", "echo 'a '\"${A}\"' b' $'${params.A}'"],
    ['echo "it\'s ${params.A}" # don\'t ${env.B}', 'echo "it\'s ${A}" # don\'t ${env.B}'],
    ["cat <<'E'\n${params.A}\nE\n", "cat <<'E'\n${params.A}\nE\n"],
  ])('in a file of Dagu 2.15: %j', (text, expected) => {
    expect(commandOf(`command: ${JSON.stringify(text)}`, '# dagu: 3\n')).toMatchObject({ command: expected });
  });

  it('does not replace a name of the file', () => {
    for (const rest of [
      'params: params={}\n',
      'env: {params: "{}"}\n',
      'env: ["params={}"]\n',
      'params: [{name: params, type: object}]\n',
    ]) {
      expect(commandOf('command: "echo ${params.A}"', rest)).toMatchObject({ command: 'echo ${params.A}' });
    }
  });

  it('becomes a variable of the step in a script', () => {
    const script = `run: "one\\necho ${"${steps.a.outputs.v} '${a.outputs.v}' ${steps.a.outputs.v} ${params.A}"}"\n    env: {X: y}`;
    expect(commandOf(script)).toMatchObject({
      script: "one\necho ${WF_REFERENCE_1} '${a.outputs.v}' ${WF_REFERENCE_1} ${A}",
      env: [
        { name: 'X', value: 'y' },
        { name: 'WF_REFERENCE_1', value: '${a.outputs.v}' },
      ],
    });
  });

  it('is the variable of a person who answers', () => {
    const text =
      'steps:\n  - {id: h, action: human.task, with: {prompt: p, form: {type: object, properties: {x: {type: string}}}}}\n  - {id: b, depends: h, run: "echo \'${steps.h.outputs.x}\'"}\n';
    expect(workflowOf(text).steps[1]?.command).toBe("echo ''\"${x}\"''");
  });
});

describe('a step of a build', () => {
  const build = (steps: string) => `type: build\nsteps:\n${steps}`;
  const messages = (text: string) =>
    loadWorkflow({ text, file: null, dir: '/' }).diagnostics.map(({ message }) => message);
  const copy = (id: string, from: string, to: string, rest = '') =>
    `  - {id: ${id}, inputs: [{name: x, path: ${from}}], outputs: [{name: y, path: ${to}}], run: 'cp "\${inputs.x}" "\${outputs.y}"'${rest}}\n`;

  it('has its files as sources, and follows the steps that write them', () => {
    const { steps } = workflowOf(build(`${copy('b', './a.out', 'b.out')}${copy('a', 'a.txt', 'a.out')}`));
    expect(steps.map(({ name, depends, upToDate }) => [name, depends, upToDate])).toEqual([
      ['b', ['a'], { sources: ['./a.out'], generates: ['b.out'], method: 'checksum' }],
      ['a', [], { sources: ['a.txt'], generates: ['a.out'], method: 'checksum' }],
    ]);
  });

  it.each([
    [copy('a', 'x', 'y') + copy('b', 'y', 'x'), 'dependency cycle: a -> b -> a'],
    [copy('a', 'x', 'y') + copy('b', 'x', './y'), 'steps "a" and "b" both write "./y"'],
    [copy('a', 'x', 'x'), 'the step reads and writes "x"'],
    [copy('a', '"*.c"', 'y'), 'the path "*.c" is a pattern'],
    ['  - {id: a, inputs: [{name: x, path: x}], run: "cat ${inputs.y}"}\n', '"inputs" of the step has no file "y"'],
    ['  - {id: a, outputs: [{name: x, path: x}], action: noop}\n', 'only a step with "run" can have files'],
    [
      '  - {id: a, outputs: [{name: x, path: x, type: json}], run: ls}\n',
      'an entry of "outputs" cannot have both "path" and "type"',
    ],
    [copy('a', 'x', 'y', ', output: OUT'), 'a step with a file under "outputs" cannot have "output" as a text'],
    [
      '  - {id: a, inputs: [{name: x, path: x}], run: ls, env: {A: "${inputs.x}"}}\n',
      '${inputs.x} can be used in "run" only',
    ],
    [
      '  - {id: a, inputs: [{name: x, path: x}], run: "import sys", with: {shell: python3}}\n',
      'the "run" of a step with files must be code for a shell',
    ],
  ])('is refused: %s', (steps, message) => {
    expect(messages(build(steps))).toContain(message);
  });

  it('keeps the old file after a failure, and does not run again after a success', async () => {
    await withDirectory(async (cwd) => {
      const write = (code: string) =>
        writeFileSync(
          join(cwd, 'w.yaml'),
          build(
            `  - id: a\n    inputs: [{name: x, path: x}]\n    outputs: [{name: y, path: y}]\n    run: |\n      ${code}\n`,
          ),
        );
      const run = async () => {
        const { code, stdout } = await wf(['run', 'w.yaml', '--reporter', 'plain'], { cwd });
        const files = readdirSync(cwd)
          .filter((name) => name.startsWith('y'))
          .map((name) => readFileSync(join(cwd, name), 'utf8'));
        return [code, /UP TO DATE/.test(stdout), ...files];
      };
      writeFileSync(join(cwd, 'x'), 'one');
      write('cat "${inputs.x}" > "${outputs.y}"');
      expect([await run(), await run()]).toEqual([
        [0, false, 'one'],
        [0, true, 'one'],
      ]);
      write('cat "${inputs.x}" > "${outputs.y}"; cat "${outputs.y}"; exit 3');
      writeFileSync(join(cwd, 'x'), 'two');
      expect(await run()).toEqual([1, false, 'one']);
    });
  });
});

it('several steps with one directory of artifacts are refused', () => {
  const text = (id: string) => `  - {id: ${id}, run: 'touch "\${context.paths.artifacts_dir}/${id}"'}\n`;
  expect(codesOf(`steps:\n${text('a')}`)).toEqual([]);
  expect(codesOf(`steps:\n${text('a')}${text('b')}`)).toEqual(['not-supported', 'not-supported']);
});
