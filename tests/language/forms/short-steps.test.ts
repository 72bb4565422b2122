import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { listKind, oneAfterAnother } from '#language/forms/command-list.ts';
import { loadWorkflow } from '#language/load.ts';
import { locateSteps } from '#language/locate.ts';
import { codesOf, workflowOf } from '../load-text.ts';

/** The names, commands and dependencies of the steps of a text. */
function stepsOf(text: string): (readonly [string, unknown, readonly string[]])[] {
  return workflowOf(text).steps.map(({ name, command, depends }) => [name, command, depends]);
}

describe('a step without a name', () => {
  it('has the first word of its command as its name, made unique', () => {
    const text = [
      'type: chain',
      'steps:',
      '  - make build',
      '  - command: [/usr/bin/make, test]',
      '  - A=1 B=2 ./deploy.sh prod',
      '  - {name: make-2, command: "true"}',
      '  - {id: own, command: make}',
      '  - {script: "make"}',
      '  - {executor: http, command: GET http://localhost}',
      '  - {command: $PROGRAM}',
      '  - {run: other/child.yaml}',
    ].join('\n');
    expect(stepsOf(text).map(([name]) => name)).toEqual([
      ...['make', 'make-3', 'deploy.sh', 'make-2', 'own', 'script', 'GET', 'step', 'child.yaml'],
    ]);
    const depends = stepsOf(text).map(([, , names]) => names);
    expect(depends.slice(0, 4)).toEqual([[], ['make'], ['make-3'], ['deploy.sh']]);
  });

  it('is found at its position', () => {
    const source = { path: '-', text: 'steps:\n  - make\n  - {name: a, command: b}\n  - command: make\n    dir: x\n' };
    const places = [...locateSteps([source], ['make', 'a', 'make-2'])];
    expect(places.map(([name, { start }]) => `${name} ${start.line}:${start.column}`)).toEqual([
      'a 3:5',
      'make 2:5',
      'make-2 4:5',
    ]);
  });

  it('cannot be named by others', () => {
    expect(codesOf('steps:\n  - make\n  - {name: a, command: b, depends: make}')).toEqual(['missing-dependency']);
    const reference = 'type: chain\nsteps:\n  - make\n  - {name: a, command: "echo ${make.status}"}';
    expect(codesOf(reference)).toEqual(['missing-dependency']);
  });
});

describe('a step that is a text', () => {
  it('is a command, in a list, in a map and as a handler', () => {
    const handler = 'handlerOn: {exit: echo bye}';
    expect(stepsOf('steps: [echo a, 5, true]\ntype: chain').map(([, command]) => command)).toEqual([
      'echo a',
      '5',
      'true',
    ]);
    expect(stepsOf('steps:\n  a: echo 1\n  b: {command: echo 2, depends: a}')).toEqual([
      ['a', 'echo 1', []],
      ['b', 'echo 2', ['a']],
    ]);
    expect(workflowOf(`steps: [echo]\n${handler}`).handlers.exit?.command).toBe('echo bye');
  });
});

describe('a list of commands', () => {
  it.each([
    [['make', 'test'], false, 'words'],
    [['make', 'make test'], true, 'words'],
    [['npm ci', 'make'], false, 'commands'],
    [['echo $A', 'b'], false, 'commands'],
    [['$DIR/my app', 'b c'], false, 'words'],
    [['$DIR/my app', 'b c'], true, 'commands'],
    [['./gradlew build', './gradlew test'], false, 'commands'],
    [['./my run', 'b'], false, 'unclear'],
    [['/opt/my app/run', 'b c'], false, 'unclear'],
  ])('%j is (Dagu 2: %s) %s', (list, isDagu2, kind) => {
    expect(listKind(list, isDagu2)).toBe(kind);
  });

  it('is one text for the shell', () => {
    expect(oneAfterAnother(['npm ci', ' npm test | cat '])).toBe('npm ci && npm test | cat');
    expect(oneAfterAnother(['npm ci'])).toBe('npm ci');
    expect(oneAfterAnother(['cd a && b', 'c', 'd # e'])).toBe('(cd a && b) && c && (d # e\n)');
    expect(oneAfterAnother(['a; b', 'c'])).toBe('(a; b); case $? in 0) ;; *) exit $?;; esac; c');
  });

  it.each(['sh', 'bash', 'bash -e'])('ends in %s at the first that fails, with its status', (shell) => {
    const [program = '', ...options] = shell.split(' ');
    const run = (...commands: string[]) => {
      const code = `${oneAfterAnother(commands)}`;
      try {
        return execFileSync(program, [...options, '-c', code], { encoding: 'utf8' });
      } catch (error) {
        const { stdout, status } = error as { stdout: string; status: number };
        return `${stdout}${status}`;
      }
    };
    expect(run('echo a', 'echo b')).toBe('a\nb\n');
    expect(run('echo a', 'sh -c "exit 3"', 'echo b')).toBe('a\n3');
    expect(run('echo a; exit 4', 'echo b')).toBe('a\n4');
    expect(run('cd /; X=1', 'test "$PWD" != / || echo moved', 'echo "[$X]"')).toBe('[]\n');
    expect(run('false; echo a', 'echo b')).toBe(options.includes('-e') ? '1' : 'a\nb\n');
    expect(run('false || echo a', 'cat <<X\nb\nX')).toBe('a\nb\n');
  });
});

describe('a parameter with a map', () => {
  const paramsOf = (params: string) =>
    workflowOf(`params:\n${params}steps: [{name: a, command: echo $DAY $N}]\n`).params;

  it('is a declaration, in a list and in a map', () => {
    const expected = paramsOf(
      '  - {name: DAY, eval: "$WF_SCHEDULED_DATE"}\n  - {name: N, type: integer, default: 3}\n  - A: x\n',
    );
    expect(expected.map(({ name }) => name)).toEqual(['DAY', 'N', 'A']);
    const entries = ['DAY: {eval: "$WF_SCHEDULED_DATE"}', 'N: {type: integer, default: 3}', 'A: x'];
    expect(paramsOf(entries.map((entry) => `  - ${entry}\n`).join(''))).toEqual(expected);
    expect(paramsOf(entries.map((entry) => `  ${entry}\n`).join(''))).toEqual(expected);
  });

  it('is reported at its position', () => {
    const { diagnostics } = loadWorkflow({
      text: 'params:\n  A: x\n  DAY: {type: integer, minimum: low}\nsteps: [{name: a, command: echo}]\n',
      file: null,
      dir: '/',
    });
    expect(diagnostics.map(({ message, position }) => [message, position?.start])).toEqual([
      ['parameter "DAY": "minimum" must be a number', { line: 3, column: 33 }],
    ]);
    expect(codesOf('params: {DAY: {vale: x}}\nsteps: [{name: a, command: echo}]\n')).toEqual(['wrong-type']);
  });
});
