import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readConfig } from '#config/config.ts';
import { readLogForwarding } from '#config/forwarding-settings.ts';
import { closedPort, httpServer } from '../support/http-server.ts';
import { wf, withDirectory } from '../support/wf.ts';

const root = resolve(import.meta.dirname, '../..');

function guide(name: string): string {
  return readFileSync(join(root, 'docs/guide', `${name}.md`), 'utf8');
}

function blocks(text: string, language: string): readonly string[] {
  return [...text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, block = '']) => block);
}

describe('the guide to secrets', () => {
  const examples = blocks(guide('secrets'), 'yaml');

  test.each(examples.map((yaml, i) => [i + 1, yaml] as const))(
    'workflow %i runs and shows no secret',
    async (_, yaml) => {
      await withDirectory(async (cwd) => {
        mkdirSync(join(cwd, 'keys'));
        writeFileSync(join(cwd, 'keys/deploy.pem'), 'private-key\n');
        writeFileSync(join(cwd, 'w.yaml'), yaml);
        const env = { WF_HOME: join(cwd, 'home'), CI_TOKEN: 'token-4711', CI_API_KEY: 'key-4711' };
        const { code, stdout, stderr } = await wf(['run', 'w.yaml', '--reporter', 'json'], { cwd, env });
        expect([code, stderr]).toEqual([0, '']);
        const shown = stdout.split('\n').filter((line) => line.includes('"step.output"'));
        expect(shown.join('\n')).not.toMatch(/4711|private-key/);
      });
    },
  );

  test('has the log that its first workflow prints', async () => {
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'w.yaml'), examples[0] ?? '');
      const { stdout } = await wf(['run', 'w.yaml'], { cwd, env: { WF_HOME: cwd, CI_TOKEN: 'token-4711' } });
      expect(stdout).toContain('| deploying with ***\n');
    });
  });
});

describe('the guide to log forwarding', () => {
  const text = guide('log-forwarding');
  const [config = '', workflow = ''] = blocks(text, 'yaml');
  const [variables = ''] = blocks(text, 'sh');

  const common = {
    httpUrl: 'http://127.0.0.1:9000/logs',
    includeStepOutput: true,
    headers: { Authorization: 'Bearer abc' },
  };

  test('has settings for the file that work as described', async () => {
    await withDirectory(async (home) => {
      writeFileSync(join(home, 'config.yaml'), config);
      const read = await readLogForwarding(readConfig({ WF_HOME: home, LOG_TOKEN: 'abc' }, home, { dags: null }));
      expect(read).toMatchObject(common);
    });
  });

  test('has the same settings as variables', async () => {
    const pairs = [...variables.matchAll(/^export (\w+)='?(.*?)'?$/gm)].map(([, name = '', value = '']) => [
      name,
      value,
    ]);
    const read = await readLogForwarding(readConfig(Object.fromEntries(pairs), '/', { dags: null }));
    expect(read).toMatchObject(common);
  });

  test('names every setting with its default', async () => {
    const rows = [...text.matchAll(/^\| ((?:`\w+`(?:, )?)+) \| ((?:`[^`]+`(?:, )?)*|none)(?: \|| )/gm)];
    const env = rows.flatMap(([, names = '', values = '']) => {
      const given = [...values.matchAll(/`([^`]+)`/g)].map(([, value = '']) => value);
      return [...names.matchAll(/`(\w+)`/g)].flatMap(([, name = ''], i) => {
        const value = given[i];
        const variable = `WF_LOG_FORWARDING_${name.replace(/([a-z])([A-Z])/g, '$1_$2').toUpperCase()}`;
        return value === undefined ? [] : [[variable, value]];
      });
    });
    expect(env.length).toBe(14);
    const on = { WF_LOG_FORWARDING_ENABLED: 'true', WF_LOG_FORWARDING_HTTP_URL: 'http://localhost' };
    const read = (more: object) => readLogForwarding(readConfig({ HOME: '/none', ...more }, '/', { dags: null }));
    expect(await read({ ...Object.fromEntries(env), ...on })).toEqual(await read(on));
  });

  test('has a workflow that enables forwarding', async () => {
    const server = await httpServer((_, response) => response.end());
    const port = await closedPort();
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'w.yaml'), workflow.replace('8091', String(port)));
      const env = {
        WF_HOME: cwd,
        WF_LOG_FORWARDING_ENABLED: 'true',
        WF_LOG_FORWARDING_HTTP_URL: server.url,
        WF_LOG_FORWARDING_MONITOR_PORT: String(port),
      };
      const { code, stdout, stderr } = await wf(['run', 'w.yaml'], { cwd, env });
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain('wf_log_forwarding_queue_depth');
    });
  });

  test('shows a record as sent', async () => {
    const server = await httpServer((_, response) => response.end());
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'w.yaml'), 'name: etl\nsteps: [{name: load, command: echo 12 rows}]\n');
      const [example = ''] = blocks(text, 'json');
      const { requestId, ...rest } = JSON.parse(example) as Record<string, string>;
      const env = {
        WF_HOME: cwd,
        ...{ WF_LOG_FORWARDING_ENABLED: 'true', WF_LOG_FORWARDING_INCLUDE_STEP_OUTPUT: 'true' },
        ...{ WF_LOG_FORWARDING_HTTP_URL: server.url, WF_LOG_FORWARDING_MONITOR_ENABLED: 'false' },
      };
      await wf(['run', 'w.yaml', '--run-id', requestId ?? ''], { cwd, env });
      expect(server.received.map(({ body }) => JSON.parse(body) as unknown)).toContainEqual({ requestId, ...rest });
    });
  });
});
