import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Workflow } from '#core/workflow.ts';
import { loadWorkflow } from '#language/load.ts';
import { workflowOf } from './load-text.ts';

const STEPS = 'steps: [{name: a, command: echo}]';
const page = readFileSync(join(import.meta.dirname, '../../docs/reference/dagu-2-keys.md'), 'utf8');

/** The rows of a section of the page: each key and what the page says about it. */
function rowsOf(section: string): (readonly [key: string, here: string])[] {
  const text = page.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? '';
  return [...text.matchAll(/^\| `(\w+)` \| ([a-z ]+) \|/gm)].map(([, key = '', here = '']) => [key, here] as const);
}

/** The diagnostics of a text as `code` or `warning code`. */
function found(text: string): string[] {
  const { diagnostics } = loadWorkflow({ text, file: null, dir: '/' });
  return diagnostics.map(({ severity, code }) => (severity === 'error' ? code : `${severity} ${code}`));
}

/** A file with a step that has the lines. */
function step(lines: string, rest = ''): string {
  return `${rest}steps:\n  - ${lines.trim().replaceAll('\n', '\n    ')}\n`;
}

/** A file for each key with the same meaning; it must change the workflow. */
const sameTop: { readonly [key: string]: string } = {
  name: 'name: n',
  description: 'description: d',
  group: 'group: g',
  working_dir: 'working_dir: /tmp',
  log_output: 'log_output: separate',
  schedule: 'schedule: "0 5 * * *"',
  skip_if_successful: 'skip_if_successful: true',
  catchup_window: 'catchup_window: 6h',
  tags: 'tags: [daily]',
  env: 'env: [A: b]',
  dotenv: 'dotenv: .env',
  shell: 'shell: bash -e',
  defaults: 'defaults: {timeout_sec: 5}',
  retry_policy: 'defaults: {retry_policy: {limit: 3, interval_sec: 1}}',
  log_dir: 'log_dir: /tmp/logs',
  handler_on: 'handler_on: {init: {command: echo}, success: {command: echo}}',
  smtp: 'smtp: {host: localhost, port: "587"}',
  mail_on: 'mail_on: {failure: true}\nsmtp: {host: h}\nerror_mail: {from: a@b.c, to: d@e.f}',
  error_mail: 'error_mail: {from: a@b.c, to: d@e.f}',
  info_mail: 'info_mail: {from: a@b.c, to: d@e.f}',
  wait_mail: 'wait_mail: {from: a@b.c, to: d@e.f}',
  timeout_sec: 'timeout_sec: 5',
  restart_wait_sec: 'restart_wait_sec: 5',
  hist_retention_days: 'hist_retention_days: 5',
  hist_retention_runs: 'hist_retention_runs: 5',
  queue: 'queue: db',
  max_active_steps: 'max_active_steps: 2',
  max_clean_up_time_sec: 'max_clean_up_time_sec: 5',
  max_output_size: 'max_output_size: 1000',
  preconditions: 'preconditions: [{condition: "$HOME", expected: "re:^/"}]',
  params: 'params: {DAY: monday}',
  container: 'container: {image: alpine}',
  registry_auths: 'registry_auths: {ghcr.io: {username: u, password: p}}',
  otel: 'otel: {enabled: true}',
  run_config: 'run_config: {disable_param_edit: true}',
  ssh: 'ssh: {user: u, host: h}',
  worker_selector: 'worker_selector: {gpu: "true"}',
};

const sameStep: { readonly [key: string]: string } = {
  name: 'name: other\ncommand: echo',
  id: 'name: a\nid: b\ncommand: echo',
  description: 'name: a\ncommand: echo\ndescription: d',
  working_dir: 'name: a\ncommand: echo\nworking_dir: /tmp',
  log_output: 'name: a\ncommand: echo\nlog_output: separate',
  shell: 'name: a\ncommand: echo\nshell: bash',
  script: 'name: a\nscript: echo',
  stdout: 'name: a\ncommand: echo\nstdout: out',
  stderr: 'name: a\ncommand: echo\nstderr: err',
  output: 'name: a\ncommand: echo\noutput: OUT',
  depends: 'name: a\ncommand: echo\ndepends: [z]',
  continue_on: 'name: a\ncommand: echo\ncontinue_on: {failure: true, exit_code: [1], mark_success: true}',
  retry_policy: 'name: a\ncommand: echo\nretry_policy: {limit: 2, interval_sec: 1, backoff: true}',
  env: 'name: a\ncommand: echo\nenv: [A: b]',
  repeat_policy: 'name: a\ncommand: echo\nrepeat_policy: {repeat: while, condition: "true", limit: 2}',
  mail_on_error: 'name: a\ncommand: echo\nmail_on_error: true',
  preconditions: 'name: a\ncommand: echo\npreconditions: ["true"]',
  signal_on_stop: 'name: a\ncommand: echo\nsignal_on_stop: SIGINT',
  timeout_sec: 'name: a\ncommand: echo\ntimeout_sec: 5',
  params: 'name: a\nrun: child\nparams: X=1',
  parallel: 'name: a\ncommand: echo $ITEM\nparallel: [x, y]',
  container: 'name: a\ncommand: echo\ncontainer: {image: alpine}',
  approval: 'name: a\ncommand: echo\napproval: true',
  worker_selector: 'name: a\ncommand: echo\nworker_selector: {gpu: "true"}',
};

/** Files with a key of Dagu 2 and with the documented ones, which must build the same workflow. */
const aliasTop: { readonly [key: string]: readonly (readonly [dagu: string, native: string])[] } = {
  overlap_policy: ['skip', 'all', 'queue', 'latest'].map((word) => [
    `overlap_policy: ${word}\n${STEPS}`,
    `overlap: ${word === 'all' ? 'queue' : word}\n${STEPS}`,
  ]),
  labels: [
    [`labels: {env: prod, team: data}\n${STEPS}`, `tags: [env=prod, team=data]\n${STEPS}`],
    [`labels: [a, b]\n${STEPS}`, `tags: a, b\n${STEPS}`],
  ],
  secrets: [
    [
      `secrets: [{name: A, provider: env, key: X}, {name: B, provider: file, key: /run/b}]\n${STEPS}`,
      `secrets: [{name: A, env: X}, {name: B, file: /run/b}]\n${STEPS}`,
    ],
  ],
};

const http = 'name: a\nexecutor: {type: http, config: {timeout: 5, silent: true}}\ncommand: GET http://localhost';
const typed = (type: string, config: string) => `name: a\ntype: ${type}\nwith: ${config}\ncommand: echo x`;
const native = (type: string, config: string) =>
  `name: a\nexecutor: {type: ${type}, config: ${config}}\ncommand: echo x`;

const aliasStep: { readonly [key: string]: readonly [dagu: string, native: string] } = {
  call: ['name: a\ncall: child\nparams: X=1', 'name: a\nrun: child\nparams: X=1'],
  exec: ['name: a\nexec: [/opt/app/run, "$X", a b]', 'name: a\ncommand: [/opt/app/run, "$X", a b]'],
  type: ['name: a\ntype: command\ncommand: echo', 'name: a\nexecutor: command\ncommand: echo'],
  with: [`name: a\ntype: http\nwith: {timeout: 5, Silent: yes}\ncommand: GET http://localhost`, http],
  config: [`name: a\ncommand: GET http://localhost\nconfig: {timeout: 5, silent: true}\ntype: http`, http],
};

const aliasType: { readonly [type: string]: readonly [dagu: string, native: string] } = {
  command: [typed('command', '{}'), native('command', '{}')],
  shell: [typed('shell', '{}'), native('command', '{}')],
  docker: [typed('docker', '{image: alpine, auto_remove: no}'), native('docker', '{image: alpine, autoRemove: false}')],
  container: [typed('container', '{image: alpine}'), native('docker', '{image: alpine}')],
  dag: ['name: a\ntype: dag\ncall: child', 'name: a\nrun: child'],
  subworkflow: ['name: a\ntype: subworkflow\ncall: child', 'name: a\nrun: child'],
  parallel: ['name: a\ntype: parallel\ncall: child\nparallel: [x, y]', 'name: a\nrun: child\nparallel: [x, y]'],
  http: [aliasStep['with']?.[0] ?? '', http],
  mail: [
    'name: a\ntype: mail\nwith: {to: a@b.c, subject: 5}',
    'name: a\nexecutor: {type: mail, config: {to: a@b.c, subject: "5"}}',
  ],
  ssh: [typed('ssh', '{host: h, user: u, port: 22}'), native('ssh', '{host: h, user: u, port: 22}')],
  jq: [
    'name: a\ntype: jq\nwith: {raw: yes}\ncommand: .a\nscript: "{}"',
    'name: a\nexecutor: {type: jq, config: {raw: true}}\ncommand: .a\nscript: "{}"',
  ],
};

/** Keys that identify a file of Dagu 2. */
const signs: readonly string[] = [
  `labels: {env: prod}\n${STEPS}`,
  step('name: a\ncall: child'),
  step('name: a\nexec: [echo]'),
  step('name: a\ntype: command\ncommand: echo'),
  step('name: a\ntype: http\ncommand: GET http://localhost\nwith: {timeout: 1}'),
  `${STEPS}\nhandler_on: {exit: {call: child}}\n`,
];

/** Files of Blackdagger or Dagu 1 with a key that differs, and the diagnostics once `labels` is added. */
const differsTop: { readonly [key: string]: readonly [text: string, inDagu: readonly string[]] } = {
  delay_sec: [`delay_sec: 1\n${STEPS}`, ['warning differs-from-dagu']],
};

const refusedTop: { readonly [key: string]: string } = {
  artifacts: '{enabled: true}',
  step_types: '{a: {}}',
  webhook: '{enabled: true}',
  s3: '{bucket: b}',
  redis: '{host: h}',
  kubernetes: '{namespace: n}',
  llm: '{model: m}',
  harness: '{name: n}',
  harnesses: '{a: {}}',
};

const refusedStep: { readonly [key: string]: string } = {
  llm: '{model: m}',
  messages: '[{role: user}]',
  tools: '[a]',
  agent: '{model: m}',
  value: '5',
  routes: '{a: [b]}',
  shell_packages: '[jq]',
  rewind_to: 'a',
};

/** The keys of the page with this remark have the cases, no more and no fewer. */
function expectCases(section: string, here: readonly string[], cases: object, others: readonly string[] = []): void {
  const keys = rowsOf(section).flatMap(([key, said]) => (here.includes(said) ? [key] : []));
  expect([...Object.keys(cases), ...others].sort()).toEqual(keys.sort());
}

describe('a key of Dagu 2 that is the same', () => {
  it('has a case here for every row of the page', () => {
    expectCases('The workflow', ['same', 'not yet'], sameTop, ['steps']);
    expectCases('A step', ['same', 'not yet'], sameStep);
  });

  it.each(rowsOf('The workflow').filter(([key]) => key in sameTop))('%s at the top: %s', (key, here) => {
    const text = `${sameTop[key]}\n${STEPS}`;
    if (here === 'not yet') expect(found(text)).toEqual(['not-supported']);
    else {
      expect(found(text)).toEqual([]);
      expect(workflowOf(text)).not.toEqual(workflowOf(STEPS));
    }
  });

  it.each(rowsOf('A step').filter(([key]) => key in sameStep))('%s of a step', (key) => {
    const text = (lines: string) => `type: graph\n${step(lines)}  - {name: z, command: echo}\n`;
    const others = key === 'params' ? 'name: a\nrun: child' : 'name: a\ncommand: echo';
    expect(found(text(sameStep[key] ?? '')).filter((code) => code !== 'warning unsent-mail')).toEqual([]);
    expect(workflowOf(text(sameStep[key] ?? ''))).not.toEqual(workflowOf(text(others)));
  });
});

describe('a key of Dagu 2 that is an alias', () => {
  const same = (dagu: string, other: string) => {
    const built = (text: string): Workflow => workflowOf(text);
    expect(built(dagu)).toEqual(built(other));
    expect(found(dagu)).toEqual(found(other));
  };

  it('has a case here for every row of the page', () => {
    expectCases('The workflow', ['alias'], aliasTop);
    expectCases('A step', ['alias'], aliasStep);
    expectCases('Step types', ['alias'], aliasType);
  });

  it.each(Object.entries(aliasTop))('%s at the top', (_key, cases) => {
    for (const [dagu, other] of cases) same(dagu, other);
  });

  it.each([...Object.entries(aliasStep), ...Object.entries(aliasType)])('%s of a step', (_key, [dagu, other]) => {
    same(step(dagu), step(other));
  });

  it('also works in a handler', () => {
    const written = (text: string) => `${STEPS}\nhandler_on: {failure: {${text}}}\n`;
    same(
      written('type: http, with: {timeout: 5}, command: GET http://h'),
      written('executor: {type: http, config: {timeout: 5}}, command: GET http://h'),
    );
    same(written('call: child'), written('run: child'));
  });

  it('leaves a call of a function unchanged', () => {
    const text = 'functions: [{name: f, params: x, command: echo $x}]\n';
    expect(workflowOf(step('name: a\ncall: {function: f, args: {x: 1}}', text)).steps[0]?.command).toBe('echo $x');
  });

  it('combines a container with a docker step', () => {
    same(
      step('name: a\ntype: docker\ncontainer: {image: alpine}\ncommand: ls'),
      step('name: a\ncontainer: {image: alpine}\ncommand: ls'),
    );
  });
});

describe('a key of Dagu 2 that differs', () => {
  it('has a case here for every row of the page', () => {
    expectCases('The workflow', ['differs'], differsTop, ['type', 'max_active_runs']);
    expectCases('A step', ['differs'], {}, ['command']);
  });

  it.each(Object.entries(differsTop))('%s is reported only in a file of Dagu 2', (_key, [text, inDagu]) => {
    expect(found(text)).toEqual([]);
    expect(found(`labels: {env: prod}\n${text}`)).toEqual(inDagu);
  });

  it.each(signs)('is reported in %j', (text) => {
    expect(found(text)).toEqual([]);
    expect(found(`delay_sec: 1\n${text}`)).toEqual(['warning differs-from-dagu']);
  });

  it.each(['type: graph', 'type: chain'])('reports no difference with %s or with depends', (type) => {
    const steps = (depends: string) => `steps: [{name: a, command: x}, {name: b, command: x${depends}}]`;
    expect(found(`labels: {a: b}\n${type}\n${steps('')}`)).toEqual([]);
    expect(found(`labels: {a: b}\n${steps(', depends: a')}`)).toEqual([]);
  });

  it('warns of steps without an order, once, in every file', () => {
    const two = 'steps: [{name: a, command: x}, {name: b, command: x}]';
    expect(found(two)).toEqual(['warning unordered-steps']);
    expect(found(`labels: {a: b}\n${two}`)).toEqual(['warning unordered-steps']);
    const third = 'steps: [{name: a, command: x}, {name: b, command: x, depends: a}, {name: c, command: x}]';
    expect(found(third)).toEqual([]);
    expect(found(`labels: {a: b}\n${third}`)).toEqual(['warning unordered-steps']);
  });

  it.each(['max_active_runs: 2', 'maxActiveRuns: 2\nqueue: q', 'maxActiveRuns: 2\nparams: [A: 1]'])(
    'reads maxActiveRuns as a limit of runs in %j',
    (text) => {
      expect(found(`${text}\n${STEPS}`)).toEqual([]);
      expect(workflowOf(`${text}\n${STEPS}`)).toMatchObject({ maxConcurrent: 2, maxActiveSteps: 0 });
    },
  );

  it('reads maxActiveRuns as a limit of steps in a file without such a sign, with a warning', () => {
    const text = `type: graph\nmaxActiveRuns: 2\n${STEPS}`;
    expect(found(text)).toEqual(['warning limit-of-runs']);
    expect(workflowOf(text)).toMatchObject({ maxActiveSteps: 2 });
    expect(workflowOf(text)).not.toHaveProperty('maxConcurrent');
  });

  it('leaves maxActiveRuns beside maxActiveSteps, which limits runs in both', () => {
    const text = `labels: {a: b}\nmax_active_runs: 1\nmax_active_steps: 2\n${STEPS}`;
    expect(found(text)).toEqual([]);
    expect(workflowOf(text)).toMatchObject({ maxConcurrent: 1, maxActiveSteps: 2 });
  });

  it('reads maxActiveRuns of -1 as no limit', () => {
    const text = `labels: {a: b}\nmax_active_runs: -1\n${STEPS}`;
    expect(found(text)).toEqual([]);
    expect(workflowOf(text).maxActiveSteps).toBe(0);
    expect(workflowOf(`max_active_steps: 2\n${text}`)).not.toHaveProperty('maxConcurrent');
  });

  it('log_output of a step overrides that of the file', () => {
    const text = `type: graph\nlog_output: separate\nsteps:\n  - {name: a, command: echo}\n  - {name: b, command: echo, log_output: merged}\n`;
    expect(found(text)).toEqual([]);
    expect(workflowOf(text).steps.map((made) => made.logOutput)).toEqual(['separate', undefined]);
  });

  it('command as a list is the words of one command', () => {
    const words = step('name: a\ncommand: [echo, a b]');
    expect(found(words)).toEqual([]);
    expect(found(`labels: {a: b}\n${words}`)).toEqual(['warning differs-from-dagu']);
    expect(found(step('name: a\ncommand: [./my run, b]'))).toEqual(['wrong-value']);
    expect(found(step('name: a\ncommand: ["/opt/my app/run", "$X y"]'))).toEqual(['wrong-value']);
    expect(found(step('name: a\nexec: ["/opt/my app/run", "$X y"]'))).toEqual([]);
    expect(found(step('name: a\ncommand: ["$DIR/my app", b]'))).toEqual([]);
    expect(found(`labels: {a: b}\n${step('name: a\ncommand: [/opt/my app/run, b]')}`)).toEqual(['wrong-value']);
    expect(found(step('name: a\nexecutor: jq\ncommand: [".a | .b"]\nscript: "{}"'))).toEqual([]);
  });
});

describe('a key of Dagu 2 that is rejected', () => {
  const help = (text: string) => loadWorkflow({ text, file: null, dir: '/' }).diagnostics[0]?.help ?? '';

  it('has a case here for every row of the page', () => {
    expectCases('The workflow', ['refused'], refusedTop);
    expectCases('A step', ['refused'], refusedStep);
  });

  it.each(Object.entries(refusedTop))('%s at the top, with a replacement', (key, value) => {
    const text = `${key}: ${value}\n${STEPS}`;
    expect(found(text)).toEqual(['not-supported']);
    expect(help(text)).not.toBe('');
  });

  it.each(Object.entries(refusedStep))('%s of a step, with a replacement', (key, value) => {
    const text = step(`name: a\ncommand: echo\n${key}: ${value}`);
    expect(found(text)).toEqual(['not-supported']);
    expect(help(text)).not.toBe('');
  });

  it.each([
    ['router', /preconditions/],
    ['agent', /executor: http/],
    ['chat', /executor: http/],
    ['harness', /executor: http/],
    ['redis', /command/],
    ['toString', /command/],
  ])('the step type %s, with a replacement', (type, way) => {
    const text = step(`name: a\ntype: ${type}\nwith: {x: 1}`);
    expect(found(text)).toEqual(['not-supported']);
    expect(help(text)).toMatch(way);
  });

  it.each([
    ['type: agent', `type: agent\n${STEPS}`],
    ['a provider', `secrets: [{name: A, provider: vault, key: x}]\n${STEPS}`],
    ['options of a secret', `secrets: [{name: A, env: X, options: {a: b}}]\n${STEPS}`],
  ])('%s', (_what, text) => {
    expect(new Set(found(text))).toEqual(new Set(['not-supported']));
    expect(help(text)).not.toBe('');
  });

  it('worker_selector can be local', () => {
    expect(found(`worker_selector: local\n${STEPS}`)).toEqual([]);
    expect(found(step('name: a\ncommand: echo\nworker_selector: local'))).toEqual([]);
  });
});
