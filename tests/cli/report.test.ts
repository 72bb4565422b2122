import { mkdirSync, openSync, readdirSync, readFileSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { shortId } from '#render/text/value-text.ts';
import { withPlace } from '../support/past-runs.ts';

const flaky = `
name: nightly etl
description: Loads rows
params: DAY=monday
steps:
  - name: extract
    command: echo "rows of $DAY"
    output: ROWS
  - name: load
    script: |
      echo "attempt $WF_ATTEMPT"
      printf '\\033[31mno such table\\033[0m\\n' >&2
      exit 3
    depends: extract
    retryPolicy: { limit: 1, intervalSec: 0 }
  - name: tell
    command: echo loaded
    depends: load
handlerOn:
  failure:
    command: echo telling
`;

const fanOut = `
steps:
  - name: dump
    parallel: [south, north, east]
    command: sh -c 'echo "dump of $ITEM"; test "$ITEM" != south'
`;

describe('wf report', () => {
  it('lists the artifacts of the run, and contains the small ones if asked', () => {
    const make = `printf '<b>hi' > "$WF_ARTIFACTS_DIR/<i>.html"; head -c 262145 /dev/zero > $WF_ARTIFACTS_DIR/large`;
    const file = `steps:\n  - name: make\n    script: |\n      ${make}\n`;
    return withPlace({ 'a.yaml': file }, async ({ wf }) => {
      await wf('run', 'a.yaml', '--run-id', 'r');
      const list = (html: string) => html.match(/<section id="artifacts">[\s\S]*?<\/section>/)?.[0] ?? '';
      const plain = list((await wf('report', 'r', '-o', '-')).stdout);
      expect(plain).toContain('<code><bdi>make/&lt;i>.html</bdi></code> <span class="quiet">5 bytes</span>');
      expect(plain).not.toContain('data:');
      const whole = list((await wf('report', 'r', '-o', '-', '--with-artifacts')).stdout);
      const data = `data:application/octet-stream;base64,${Buffer.from('<b>hi').toString('base64')}`;
      expect(whole.match(/href="[^"]*"/g)).toEqual([`href="${data}"`]);
      expect(whole).toContain('<code><bdi>make/large</bdi></code>');
    });
  });

  it('compares the steps with those of the last run that finished before', () =>
    withPlace(
      { 'a.yaml': 'steps: [{name: one, command: test ! -e bad}, {name: two, command: echo}]\n' },
      async (place) => {
        const { wf, cwd } = place;
        await wf('run', 'a.yaml', '--run-id', 'first-run');
        expect((await wf('report', 'first-run', '-o', '-')).stdout).not.toContain('Steps are compared');
        writeFileSync(join(cwd, 'bad'), '');
        await wf('run', 'a.yaml', '--run-id', 'second-run');
        const { stdout } = await wf('report', 'second-run', '-o', '-');
        expect(stdout).toContain('Steps are compared with run <code>first-run</code>');
        // On a busy machine the other step may take longer than before.
        expect(stdout.match(/class="before" title="Compared with run first-run">was [^<]*/g)).toEqual([
          'class="before" title="Compared with run first-run">was succeeded',
        ]);
      },
    ));

  it('writes the page to the current directory and prints its name', () =>
    withPlace({ 'etl.yaml': flaky }, async ({ cwd, wf, json }) => {
      await wf('run', 'etl.yaml');
      const { runId } = await json('status');
      const file = `nightly-etl-${shortId(runId)}.html`;

      const stderr = `wf: the last run of a file below ${cwd}\n`;
      expect(await wf('report')).toEqual({ code: 0, signal: null, stdout: `${file}\n`, stderr });
      expect(readdirSync(cwd).sort()).toEqual(['etl.yaml', 'home', file]);
      const page = readFileSync(join(cwd, file), 'utf8');
      expect(page).toMatch(/^<!doctype html>\n[\s\S]*<\/html>\n$/);
      expect((await wf('report', 'etl.yaml', '-o', '-')).stdout).toContain('<h1>');
    }));

  it('shows failures with their position, attempts, colours and the next commands', () =>
    withPlace({ 'etl.yaml': flaky }, async ({ wf, json }) => {
      await wf('run', 'etl.yaml');
      const { runId } = await json('status');
      const { stdout: page } = await wf('report', 'nightly etl', '-o', '-');

      expect(page).toContain(
        'exit 3 after 2 attempts</span><span class="quiet">at <a href="#l1-9"><code>etl.yaml:9:5</code></a>',
      );
      expect(page).toContain(
        '<span id="l1-9" class="frame-line"><span class="line-number">9</span>  - <span class="key">name</span>: load\n</span>',
      );
      expect(page).toContain('<span class="fg1">no such table</span>');
      expect(page).toContain(`wf retry ${shortId(runId)}`);
      expect(page).toMatch(/aria-label="attempt 1: failed \(exit 3\) after \d\.\ds; attempt 2: failed/);
      expect(page).toContain('handlerOn.failure');
      expect(page).toContain('&quot;load&quot; failed');
      expect(page).toContain('Loads rows');
      expect(page).toContain('<code>DAY</code></th><td><code>monday</code>');
      expect(page).toContain('<code>ROWS</code></th><td><pre tabindex="0">rows of monday</pre>');
    }));

  it('shows the output of a failed instance, and the command that prints the logs of all', () =>
    withPlace({ 'fan.yaml': fanOut }, async ({ wf, json }) => {
      await wf('run', 'fan.yaml');
      const { runId } = await json('status');
      const { stdout: page } = await wf('report', '-o', '-');
      const failures = page.slice(page.indexOf('id="failures"'), page.indexOf('</article>'));

      expect(failures).toContain('dump of south');
      expect(failures).not.toContain('dump of north');
      expect(page).toContain('3 instances: 1 failed, 2 succeeded');
      expect(page).toContain(`wf logs ${shortId(runId)} dump`);
      expect(page).not.toContain('No output.');
    }));

  it('writes into a directory, over an older report, and to a given name', () =>
    withPlace({ 'a.yaml': 'steps: [{ name: a, command: echo hello }]' }, async ({ cwd, wf, write }) => {
      await wf('run', 'a.yaml');
      mkdirSync(join(cwd, 'reports'));
      write('old.html', 'x'.repeat(1_000_000));

      const { stdout } = await wf('report', 'a', '-o', 'reports');
      expect(stdout).toMatch(/^reports\/a-[0-9a-f-]{13}\.html\n$/);
      expect((await wf('report', 'a', '-o', 'old.html')).stdout).toBe('old.html\n');
      expect(readFileSync(join(cwd, 'old.html'), 'utf8')).toMatch(/^<!doctype html>\n[\s\S]*<\/html>\n$/);
      expect(readdirSync(cwd).filter((name) => name.endsWith('.part'))).toEqual([]);
    }));

  it('reports an unknown run and an invalid path', () =>
    withPlace({ 'a.yaml': 'steps: [{ name: a, command: echo hello }]' }, async ({ wf }) => {
      expect(await wf('report')).toMatchObject({ code: 2, stdout: '', stderr: 'error: there are no runs yet\n' });
      await wf('run', 'a.yaml');
      expect(await wf('report', 'a', '-o', 'no/where.html')).toMatchObject({
        code: 2,
        stdout: '',
        stderr: 'error: cannot write "no/where.html": there is no such directory\n  help: name another file\n',
      });
    }));

  it('contains no secret', () =>
    withPlace(
      {
        'a.yaml': `
secrets: [TOKEN]
params: TOKEN=
env: [ { KEY: "prefix-\${TOKEN}" } ]
steps:
  - name: use
    command: sh -c 'echo "token $TOKEN"; echo "$TOKEN" >&2; echo "$KEY" | base64; exit 1'
    output: LEAK
`,
      },
      async ({ wf }) => {
        const secret = 'planted-secret-4711';
        await wf('run', 'a.yaml', '--', `TOKEN=${secret}`);
        const { stdout: page } = await wf('report', '-o', '-');

        expect(page).toContain('token ***');
        expect(page).not.toContain(secret);
        expect(page).not.toContain(Buffer.from(secret).toString('base64').slice(0, 20));
      },
    ));

  it('shows both ends of a log of five gigabytes', () =>
    withPlace({ 'a.yaml': 'steps: [{ name: a, command: echo hello }]' }, async ({ wf, json }) => {
      await wf('run', 'a.yaml');
      const log = (await json('status')).steps[0]?.log ?? '';
      const size = 5 * 1024 ** 3;
      truncateSync(log, size);
      writeSync(openSync(log, 'r+'), '\nthe end\n', size - 9);
      const { code, stdout: page } = await wf('report', '-o', '-');

      expect(code).toBe(0);
      expect(page.length).toBeLessThan(400_000);
      expect(page).toContain('hello');
      expect(page).toContain('5.0 GiB left out here. Complete output: wf logs');
      expect(page).toContain('the end\n</pre>');
    }));

  it('stays small, however many steps there are and whatever they print', () =>
    withPlace({ 'many.yaml': manySteps(60) }, async ({ wf, json }) => {
      await wf('run', 'many.yaml');
      for (const { log } of (await json('status')).steps) writeFileSync(log ?? '', '<&'.repeat(200_000));
      const { stdout: page } = await wf('report', '-o', '-');

      expect(page.length).toBeLessThan(64 * 1024 * 1024);
      expect(page.match(/left out here/g)?.length).toBe(60);
    }));

  it('shows a running run', () =>
    withPlace({ 'slow.yaml': 'steps: [{ name: a, command: "echo begun; exec sleep 30" }]' }, async ({ start, wf }) => {
      const run = start('run', 'slow.yaml', '--reporter', 'plain');
      await run.until('begun');
      const { code, stdout: page } = await wf('report', '-o', '-');
      run.kill('SIGTERM');
      await run.ended;

      expect(code).toBe(0);
      expect(page).toMatch(/<strong>Running for \d+s<\/strong>/);
      expect(page).toContain('attempt 1: running');
    }));

  it('shows that a run waits for approval', () =>
    withPlace({ 'ask.yaml': 'steps: [{ name: ship, approval: { prompt: "Ship it?" } }]' }, async ({ start, wf }) => {
      const run = start('run', 'ask.yaml', '--reporter', 'plain', '--on-approval', 'wait');
      await run.until('Ship it?');
      const { code, stdout: page } = await wf('report', '-o', '-');
      run.kill('SIGTERM');
      await run.ended;

      expect(code).toBe(0);
      expect(page).toMatch(/<strong>Awaiting approval, running for \d+s<\/strong>/);
      expect(page).toMatch(/<title>\u270b ask /);
    }));

  it('shows the rest of a run whose snapshot is lost', () =>
    withPlace({ 'a.yaml': 'steps: [{ name: a, command: echo hello }]' }, async ({ wf, json, runsDir }) => {
      await wf('run', 'a.yaml');
      const directory = join(runsDir, (await json('status')).runId);
      for (const name of readdirSync(directory).filter((file) => !/journal|logs/.test(file))) {
        writeFileSync(join(directory, name), 'x');
      }
      const { code, stdout: page } = await wf('report', '-o', '-');

      expect(code).toBe(0);
      expect(page).toContain('<strong>Warning:</strong>');
      expect(page).toContain('<bdi>a</bdi></h1>');
    }));
});

function manySteps(count: number): string {
  const steps = Array.from({ length: count }, (_, at) => `  - { name: s${at}, command: "true" }\n`);
  return `steps:\n${steps.join('')}`;
}
