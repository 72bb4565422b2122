import { describe, expect, it, test } from 'vitest';
import type { Param } from '#core/run/run.ts';
import type { Workflow } from '#core/workflow.ts';
import { locateVariable } from '#language/locate.ts';
import { parseParamDefaults, parseParams } from '#language/params.ts';
import { acceptParams, openParams, refuseReplacements } from '#service/runs/given-params.ts';
import { handler, step, type WorkflowSettings, workflow } from '../../support/workflow.ts';

/** With declared parameters. */
const declared = workflow({
  params: parseParamDefaults([
    { name: 'ENV', enum: ['dev', 'prod'], required: 'yes' },
    { name: 'PORT', type: 'integer', default: '80' },
    { name: 'KEY', maxLength: '3', secret: 'true' },
  ]),
  secrets: [{ name: 'KEY', env: null, file: null }],
});

const deploy = taking('ENV=staging TAG=latest');

test.each<[string, Workflow, string]>([
  ['ENVV=prod', deploy, 'unknown parameter "ENVV": did you mean "ENV"? It takes ENV, TAG'],
  ['SOMETHING=1', deploy, 'unknown parameter "SOMETHING": it takes ENV, TAG'],
  ['SOMETHING=1', taking(''), 'unknown parameter "SOMETHING": it takes no declared parameters'],
  ['SOMETHING=1', taking('a "b c" D=1'), 'unknown parameter "SOMETHING": it takes D, 2 by position'],
  ['env=prod', deploy, 'unknown parameter "env": did you mean "ENV"? It takes ENV, TAG'],
  [
    'HOSTS=a',
    mentioning('echo $HOST'),
    'unknown parameter "HOSTS": did you mean "HOST"? It takes no declared parameters',
  ],
  ['a b c', deploy, 'positional parameter 3 is not used: the workflow takes 2 (ENV, TAG)'],
  ['ENV=x a b c', deploy, 'positional parameters 3 to 4 are not used: the workflow takes 2 (ENV, TAG)'],
  ['a', taking(''), 'positional parameter 1 is not used: the workflow takes none'],
  ['', declared, '"ENV" is required: -p ENV=...'],
  ['PORT=80a', declared, '"ENV" is required: -p ENV=...\n"PORT" must be an integer, got "80a"'],
  ['ENV=', declared, '"ENV" is required and cannot be empty'],
  ['stage', declared, '"ENV" must be one of dev, prod, got "stage"'],
  ['ENV=dev KEY=sesame', declared, '"KEY" must have at most 3 characters'],
  ['a b c', mentioning('echo $2'), 'positional parameter 3 is not used: the workflow takes 2'],
  [
    'ENVV=1 TAGG=2 a b c',
    deploy,
    [
      'unknown parameter "ENVV": did you mean "ENV"? It takes ENV, TAG',
      'unknown parameter "TAGG": did you mean "TAG"? It takes ENV, TAG',
      'positional parameter 3 is not used: the workflow takes 2 (ENV, TAG)',
    ].join('\n'),
  ],
])('%s is rejected with every problem', (given, flow, message) => {
  expect(() => acceptParams(flow, parseParams(given))).toThrow(
    expect.objectContaining({ code: 'invalid-params', message }),
  );
});

test('a missing required parameter is no problem if the user is prompted for it', () => {
  expect(() => acceptParams(declared, [], { isComplete: false })).not.toThrow();
  expect(openParams(declared, [])).toEqual(['ENV']);
});

test.each<[string, Workflow]>([
  ['ENV=prod TAG=1', deploy],
  ['prod 1', deploy],
  ['A=1', mentioning('echo $A')],
  ['A=1', mentioning('echo "${A:-none}"')],
  ['A=1', mentioning(['bash', '-c', 'echo $A'])],
  ['A=1', workflow({ steps: [step('a', { script: 'echo $A' })] })],
  ['A=1', workflow({ steps: [step('a', { args: ['$A'] })] })],
  ['A=1', workflow({ steps: [step('a', { dir: '/srv/$A' })] })],
  ['A=1', workflow({ steps: [step('a', { stdout: '$A.log' })] })],
  ['A=1', workflow({ steps: [step('a', { env: [{ name: 'B', value: '$A' }] })] })],
  ['A=1', workflow({ steps: [step('a', { preconditions: [{ condition: '$A', expected: 'x' }] })] })],
  ['A=1', workflow({ steps: [step('a', { executor: { type: 'http', config: { headers: { X: ['$A'] } } } })] })],
  ['A=1', workflow({ handlers: { exit: handler('exit', { command: 'echo $A' }) } })],
  ['A=1', workflow({ env: [{ name: 'B', value: 'x-${A}' }] })],
  ['A=1', workflow({ params: [{ name: 'B', value: '$A' }] })],
  ['A=1', workflow({ preconditions: [{ condition: 'test "$A"', expected: null }] })],
  ['A=1', workflow({ smtp: { host: '$A', port: '25', username: null, password: null } })],
  ['A=1', workflow({ infoMail: { from: '', to: ['$A@example.com'], prefix: '', attachLogs: false } })],
  ['A=1', workflow({ logDir: '/var/log/$A' })],
  ['a b c', mentioning('cp "$@" /tmp')],
  ['a b c', workflow({ steps: [step('a', { command: 'python3', script: 'import sys; print(sys.argv[1:])' })] })],
  ['a b c', workflow({ steps: [step('a', { script: 'f=x; shift; echo $f' })] })],
  ['x A=1', mentioning('echo $1 $A')],
])('%s is accepted', (given, flow) => {
  expect(() => acceptParams(flow, parseParams(given))).not.toThrow();
});

test('names and descriptions do not accept parameters', () => {
  const flow = workflow({
    description: 'uses $A',
    name: '$A',
    tags: ['$A'],
    steps: [step('$A', { description: '$A' })],
  });
  expect(() => acceptParams(flow, parseParams('A=1'))).toThrow('unknown parameter "A"');
});

describe('a name that changes the behavior of programs', () => {
  const steering = [
    ...['PATH', 'IFS', 'ENV', 'HOME', 'CDPATH', 'SHELLOPTS', 'BASHOPTS', 'PS4', 'PROMPT_COMMAND', 'MAKEFLAGS'],
    ...['TAR_OPTIONS', 'DOCKER_HOST', 'BASH_ENV', 'BASH_FUNC_ls', 'LD_PRELOAD', 'DYLD_INSERT_LIBRARIES'],
    ...['NODE_OPTIONS', 'PYTHONSTARTUP', 'PERL5OPT', 'RUBYOPT', 'JAVA_TOOL_OPTIONS', 'GIT_SSH_COMMAND', 'SSH_ASKPASS'],
    ...[
      'WF_HOME',
      'LESSOPEN',
      'RSYNC_RSH',
      'TF_CLI_ARGS',
      'TF_CLI_ARGS_apply',
      'ANSIBLE_CONFIG',
      'CC',
      'PAGER',
      'EDITOR',
    ],
    ...[
      'KUBECONFIG',
      'http_proxy',
      'HTTPS_PROXY',
      'no_proxy',
      'DOCKER_CONFIG',
      'CARGO_BUILD_RUSTC',
      'npm_config_registry',
    ],
    ...['AWS_ENDPOINT_URL_S3', 'XDG_CONFIG_HOME', 'OPENSSL_CONF', 'GOFLAGS', 'PIP_INDEX_URL'],
  ];

  it.each(steering)('%s must be declared', (name) => {
    const given: Param[] = [{ name, value: 'x' }];
    const message = `parameter "${name}" changes the behavior of programs, and the file does not declare it`;
    expect(() => acceptParams(mentioning(`echo $${name}`), given)).toThrow(
      expect.objectContaining({
        code: 'invalid-params',
        message,
        help: `declare it under "params" in the file to accept it: "- ${name}: value"`,
      }),
    );
    expect(() => acceptParams(workflow({ params: [{ name, value: '' }] }), given)).not.toThrow();
  });

  it.each([
    'path',
    'ENVIRONMENT',
    'OLD_PATH',
    'GITHUB_TOKEN',
    'HOMEPAGE',
    'WFX',
    'TF_VAR_region',
    'AWS_REGION',
    'USE_PROXY',
    'EDITORS',
  ])('does not include %s', (name) => {
    expect(() => acceptParams(mentioning(`echo $${name}`), [{ name, value: 'x' }])).not.toThrow();
  });
});

describe('a parameter that would replace a variable', () => {
  const text =
    'env:\n  - API: https://good\nsecrets:\n  - {name: KEY, env: K}\nsteps: [{name: a, command: echo $API $KEY}]\n';
  const set = {
    ...mentioning('echo $API $KEY $WORD $USER'),
    env: [{ name: 'API', value: 'https://good' }],
    secrets: [
      { name: 'KEY', env: 'K', file: null },
      { name: 'WORD', env: null, file: null },
    ],
  };
  const dotenv = { variables: { TOKEN: 'x' }, files: [{ path: '/w/.env', names: ['TOKEN'] }], missing: [] };
  const run = { workflow: set, sources: [{ path: '/w/f.yaml', text }], dotenv };

  it.each([
    ['API', 'parameter "API" would replace the value that "env" sets (f.yaml:2:5)'],
    ['KEY', 'parameter "KEY" would replace the value that "secrets" reads (f.yaml:4:12)'],
    ['TOKEN', 'parameter "TOKEN" would replace the value that /w/.env sets'],
    ['USER', 'parameter "USER" would replace a variable of the environment in which the run starts'],
  ])('%s is refused unless it is declared', (name, message) => {
    const params = [{ name, value: 'x' }];
    const help = 'declare it under "params" in the file to let callers set it';
    expect(() => refuseReplacements({ ...run, params }, { USER: 'me' })).toThrow(
      expect.objectContaining({ code: 'invalid-params', message, help }),
    );
    const declaring = { ...set, params: [{ name, value: '' }] };
    expect(() => refuseReplacements({ ...run, workflow: declaring, params }, { USER: 'me' })).not.toThrow();
  });

  it('is not one that is only mentioned, masked or given by position', () => {
    const params = [...parseParams('one two'), { name: 'USER', value: 'x' }, { name: 'WORD', value: 'x' }];
    expect(() => refuseReplacements({ ...run, params }, { HOME: '/' })).not.toThrow();
  });

  it('is also found in a JSON text', () => {
    const declaring = { ...set, params: [{ name: 'A', value: '' }] };
    const params = [{ name: null, value: '{"A": "1", "API": "https://evil"}' }];
    expect(() => refuseReplacements({ ...run, workflow: declaring, params }, {})).toThrow('"API" would replace');
  });
});

test.each([
  ['env: {A: 1, B: 2}', 'B', '1:13'],
  ['env:\n  - A=1\n  - B=2', 'B', '3:5'],
  ['env:\n  - A: 1\n  - B: 2\n  - B: 3', 'B', '4:5'],
  ['secrets: [A, B]', 'B', '1:14'],
  ['secrets:\n  - {env: X, name: B}', 'B', '2:20'],
])('the position of a variable in %j', (text, name, position) => {
  const start = locateVariable([{ path: '/w', text: `${text}\nsteps: []\n` }], name)?.start;
  expect(`${start?.line}:${start?.column}`).toBe(position);
});

test('a name that is invalid for variables is rejected', () => {
  expect(() => acceptParams(mentioning('echo $__proto__'), [{ name: '__proto__', value: '1' }])).toThrow(
    '"__proto__" is not the name of a parameter',
  );
});

test('a message repeats only a part of a large input', () => {
  const given = Array.from({ length: 5000 }, (_, i) => ({ name: `N${i}${'x'.repeat(200)}`, value: '' }));
  const many = Array.from({ length: 500 }, (_, i) => ({ name: `P${i}`, value: '' }));
  try {
    acceptParams(workflow({ params: many }), given);
    expect.unreachable();
  } catch (error) {
    expect(String(error).split('\n')).toHaveLength(21);
    expect(String(error).split('\n').at(-1)).toBe('and 4980 more names');
    expect(String(error).length).toBeLessThan(8000);
  }
});

function taking(params: string): Workflow {
  return workflow({ params: parseParamDefaults(params) });
}

function mentioning(command: NonNullable<WorkflowSettings['steps']>[number]['command']): Workflow {
  return workflow({ steps: [step('a', { command })] });
}
