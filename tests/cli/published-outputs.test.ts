import { describe, expect, it } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { withPlace } from '../support/past-runs.ts';

const yaml = `
steps:
  - id: build
    command: sh
    script: |
      echo '{"tag": "1.4", "sizes": [1.0, 2]}'
      echo warned >&2
      printf 'host: web\\nports: [80]\\n' > out.yaml
    output:
      stage: test
      list: [1, two]
      tag: {from: stdout, decode: json, select: .tag}
      sizes: {from: stdout, decode: json, select: .sizes}
      all: {from: stdout}
      bad: {from: stderr}
      port: {from: file, path: out.yaml, decode: yaml, select: ".ports[-1]"}
  - name: use
    command: echo "\${build.output.stage} \${build.output.tag} \${build.output.sizes[0]} \${build.output.port} [$stage]"
    depends: build
`;
const outputs = {
  stage: 'test',
  list: '[1,"two"]',
  tag: '1.4',
  sizes: '[1.0,2]',
  all: '{"tag": "1.4", "sizes": [1.0, 2]}',
  bad: 'warned',
  port: '80',
};

describe('output as a map', () => {
  it('publishes values under the name of the step, which a retry keeps', () =>
    withPlace({ 'w.yaml': `${yaml}  - {name: fails, command: "false", depends: use}` }, async ({ wf, json }) => {
      const { stdout } = await wf('run', 'w.yaml');
      expect(stdout).toContain('| test 1.4 1.0 80 []');
      const { steps } = await json<RunSummary>('status', '@latest');
      expect(steps[0]?.outputs).toEqual(outputs);
      await wf('retry', '@latest', '--from', 'use');
      expect((await wf('logs', '@latest', 'use')).stdout).toContain('test 1.4 1.0 80 []');
    }));

  it('captures both streams of a step whose log is masked', () =>
    withPlace(
      { 'w.yaml': `secrets: [KEY, bad]\nenv: [{KEY: "1.4"}]${yaml.replace('1.4', '$KEY-1234')}` },
      async ({ wf, json }) => {
        await wf('run', 'w.yaml');
        const { steps } = await json<RunSummary>('status', '@latest');
        expect(steps[0]?.outputs).toMatchObject({ bad: '***', tag: '$KEY-1234' });
        expect((await wf('logs', '@latest', 'build')).stdout).not.toContain('warned');
      },
    ));

  it.each([
    ['{from: stdout, decode: json}', 'echo no json', 'output "V": stdout is not JSON'],
    ['{from: stdout, decode: json, select: .b}', 'echo {\\"a\\":1}', 'output "V": stdout has no "b" (it has a)'],
    ['{from: file, path: none.txt}', 'echo x', 'output "V": cannot read'],
    ['{from: stderr}', "sh -c 'head -c 200 /dev/zero >&2'", 'output "V" has 200 bytes; a variable can hold 100'],
  ])('fails the attempt if %s cannot be read', (output, command, message) =>
    withPlace(
      {
        'w.yaml': `maxOutputSize: 100\nsteps: [{name: a, command: ${JSON.stringify(command)}, output: {V: ${output}}}]`,
      },
      async ({ wf }) => {
        const { code, stdout } = await wf('run', 'w.yaml');
        expect(code).toBe(1);
        expect(stdout).toContain(message);
      },
    ),
  );
});
