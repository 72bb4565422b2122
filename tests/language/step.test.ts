import { describe, expect, it } from 'vitest';
import { codesOf, stepOf, workflowOf } from './load-text.ts';

describe('a step', () => {
  it('has the values of the file', () => {
    expect(
      stepOf(`
description: loads
dir: $OUT
command: python
script: |
  print(1)
args: [1, true, 1.10, 0x1F, "x y"]
shell: bash -e
depends: []
preconditions: ["test -f x"]
continueOn: {failure: yes, skipped: on}
retry_policy: {limit: "3", interval_sec: 1.5}
RepeatPolicy: {repeat: true, intervalSec: 60}
stdout: out.txt
stderr: err.txt
output: \${VERSION}
signal_on_stop: int
mailOn: {failure: true}
env: {A: 1}
timeoutSec: 0.25
leaveBackground: true`),
    ).toEqual({
      name: 'a',
      description: 'loads',
      dir: '$OUT',
      command: 'python',
      args: ['1', 'true', '1.10', '0x1F', 'x y'],
      script: 'print(1)\n',
      shell: 'bash -e',
      executor: { type: 'command', config: {} },
      depends: [],
      preconditions: [{ condition: 'test -f x', expected: null }],
      continueOn: { failure: true, skipped: true },
      retry: { limit: 3, intervalMs: 1500 },
      repeat: { intervalMs: 60_000 },
      stdout: 'out.txt',
      stderr: 'err.txt',
      output: 'VERSION',
      env: [{ name: 'A', value: '1' }],
      signalOnStop: 'SIGINT',
      timeoutMs: 250,
      mailOn: { failure: true, success: false },
      leaveBackground: true,
    });
  });

  it('takes its command as a list of words', () => {
    expect(stepOf('command: [echo, 1, "a b"]').command).toEqual(['echo', '1', 'a b']);
  });

  it('keeps y, n, on and off as texts where texts are expected', () => {
    expect(
      workflowOf('steps:\n  - {name: on, command: y}\n  - {name: n, command: off, depends: on}\n').steps,
    ).toMatchObject([
      { name: 'on', command: 'y' },
      { name: 'n', command: 'off', depends: ['on'] },
    ]);
  });

  it('is named by its id, and can be referred to by its id if it has a name', () => {
    const text =
      'steps:\n  - {id: a, command: x}\n  - {id: two, name: second, command: x}\n  - {name: c, command: x, depends: [a, two, second]}\n';
    expect(workflowOf(text).steps.map(({ name, depends }) => [name, depends])).toEqual([
      ['a', []],
      ['second', []],
      ['c', ['a', 'second']],
    ]);
  });

  it.each([
    ['a text', 'params: A=1 "B=x y"', 'A=1 "B=x y"'],
    ['a map', 'params: {A: 1, B: x y}', 'A=1 B="x y"'],
    ['a list', 'params: [A=1, {B: x y}, pos]', 'A=1 B="x y" pos'],
    ['nothing', 'description: ""', ''],
  ])('runs another workflow with parameters given as %s', (_, params, text) => {
    expect(stepOf(`run: other.yaml\n${params}`).executor).toEqual({
      type: 'workflow',
      config: { run: 'other.yaml', params: text },
    });
  });

  it('calls a function with its arguments before its own variables', () => {
    const text = `
functions: [{name: greet, params: who greeting, command: "echo $greeting $who", script: s}]
steps:
  - name: a
    env: [{B: 2}]
    call: {function: greet, args: {who: $USER, greeting: 1}}
handlerOn: {exit: {call: {function: greet, args: {who: x, greeting: y}}}}
`;
    const { steps, handlers } = workflowOf(text);
    const env = [
      { name: 'who', value: '$USER' },
      { name: 'greeting', value: '1' },
      { name: 'B', value: '2' },
    ];
    expect(steps[0]).toMatchObject({ command: 'echo $greeting $who', script: 's', env });
    expect(handlers.exit).toMatchObject({ command: 'echo $greeting $who' });
  });

  it.each([
    ['short form', 'executor: http\ncommand: GET http://x', { type: 'http', config: {} }],
    [
      'settings before the type',
      'executor: {config: {time_out: "5", Headers: {X-a_B: 1}}, type: http}\ncommand: GET http://x',
      {
        type: 'http',
        config: { timeout: '5', headers: { 'X-a_B': '1' } },
      },
    ],
    [
      'absent settings',
      'executor: {type: http, config: {headers: , body: ""}}\ncommand: GET http://x',
      {
        type: 'http',
        config: { body: '' },
      },
    ],
    [
      'a structure as body',
      'executor: {type: webhook, config: {url: "http://u", body: {a: [1, "2"]}, successStatusCodes: [200]}}',
      {
        type: 'webhook',
        config: { url: 'http://u', body: '{"a":[1,"2"]}', successStatusCodes: [200] },
      },
    ],
    [
      'free maps',
      'executor: {type: docker, config: {image: i, pull: true, container: {Env: [A=1], labels: {n_k: 1}}, host: {auto_remove: yes, Memory: 1g}}}',
      {
        type: 'docker',
        config: {
          image: 'i',
          pull: 'always',
          container: { env: ['A=1'], labels: { n_k: '1' } },
          host: { autoRemove: true, memory: '1g' },
        },
      },
    ],
    [
      'typed variables',
      'executor: {type: ansible, config: {playbook: p, extraVars: {n: 1, b: true, l: [x]}, forks: 5}}',
      {
        type: 'ansible',
        config: { playbook: 'p', extraVars: { n: 1, b: true, l: ['x'] }, forks: 5 },
      },
    ],
    [
      'text variables',
      'executor: {type: terraform, config: {vars: {n: 1, v: 1.10}, init: yes}}',
      {
        type: 'terraform',
        config: { vars: { n: '1', v: '1.10' }, init: true },
      },
    ],
    [
      'another spelling',
      'executor: {type: ssh, config: {user: u, ip: h, StrictHostKeyChecking: false, port: 22}}\ncommand: ls',
      {
        type: 'ssh',
        config: { user: 'u', host: 'h', strictHostKeyChecking: false, port: 22 },
      },
    ],
    [
      'a mail',
      'executor: {type: mail, config: {to: [a@b, c@d], subject: 1}}',
      {
        type: 'mail',
        config: { to: ['a@b', 'c@d'], subject: '1' },
      },
    ],
  ])('takes an executor with %s', (_, lines, executor) => {
    expect(stepOf(lines).executor).toEqual(executor);
  });

  it('takes empty texts as absent, as Blackdagger and Dagu do', () => {
    const step = stepOf('command: ""\nscript: echo 1\nshell: ""\nstdout: ""\nstderr: ""');
    expect(step).toEqual(stepOf('script: echo 1'));
    expect(workflowOf('shell: ""\nsteps: [{name: a, command: echo}]\n').shell).toBe('sh');
  });

  it('leaves an empty filter of jq to jq', () => {
    expect(stepOf('command: ""\nscript: "{}"\nexecutor: jq').command).toBe('');
  });

  it('reports an invalid value once, whatever forms the key has', () => {
    expect(codesOf('steps:\n  - {name: a, command: {x: 1}, executor: [1], env: 5}\n')).toEqual([
      'wrong-type',
      'wrong-type',
      'wrong-type',
    ]);
  });
});
