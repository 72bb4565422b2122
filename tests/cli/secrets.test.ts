import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Ended, wf, withDirectory } from '../support/wf.ts';

/** Thirty values of every make, each unlike anything else in a run. */
const values = Array.from({ length: 30 }, (_, i) => {
  const core = `planted${i}of30-${(i * 7919 + 104729).toString(36)}`;
  const makes = [core, `${core}/+w x`, `${core}"q'\\b`, `${core}é€😀`, `${core}?&=%`, `<${core}>$`];
  return makes[i % makes.length] ?? core;
});

/** The forms in which none of them may be found. */
function formsOf(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const json = JSON.stringify(value).slice(1, -1);
  return [
    value,
    bytes.toString('base64').slice(0, Math.floor((bytes.length * 4) / 3)),
    bytes.toString('base64url'),
    encodeURIComponent(value),
    new URLSearchParams([['', value]]).toString().slice(1),
    json,
    JSON.stringify(json).slice(1, -1),
  ];
}

/** Every file below a directory, but for compiled code of the program itself. */
function filesBelow(directory: string): readonly { path: string; text: string }[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('/cache'))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
}

function found(places: readonly { path: string; text: string }[], secrets: readonly string[]): readonly string[] {
  return places.flatMap(({ path, text }) =>
    secrets.flatMap(formsOf).flatMap((form) => (text.includes(form) ? [`${form} in ${path}`] : [])),
  );
}

const printer = `
const { writeSync } = require('node:fs');
const forms = (value) => [value, Buffer.from(value).toString('base64'), Buffer.from(value).toString('base64url'),
  encodeURIComponent(value), new URLSearchParams([['', value]]).toString(), JSON.stringify(value),
  JSON.stringify(JSON.stringify(value))];
const secrets = Object.keys(process.env).filter((name) => /^S\\d+$/.test(name)).map((name) => process.env[name]);
const text = secrets.flatMap(forms).join('\\n');
writeSync(1, text + '\\n');
for (const byte of Buffer.from(text + '\\n')) writeSync(2, Buffer.of(byte));
writeSync(1, secrets.map((value) => 'x'.repeat(65530) + value).join(''));
`;

/** Lets thirty secrets go through everything that writes. */
const planted = `
secrets: [${values.map((_, i) => (i < 24 ? `S${i}` : i < 27 ? `{name: S${i}, env: FROM_${i}}` : `{name: S${i}, file: secret-${i}}`)).join(', ')}]
params: 'S0="given at the command line" plain OTHER='
env:
${values.map((value, i) => (i > 0 && i < 20 && i !== 18 ? `  - S${i}: ${JSON.stringify(value.replaceAll('$', '\\$'))}` : '')).join('\n')}
  - S18: "\`printf %s ${values[18]}\`"
  - S20: "\`cat given-20\`"
  - S21: from the mail server
  - URL: http://user:$S1@127.0.0.1:1/
smtp: {host: localhost, password: ${JSON.stringify(values[21])}}
steps:
  - name: print
    command: node
    script: |
${printer.replace(/^/gm, '      ')}
    stdout: copy.txt
    stderr: copy.err
    env:
      - S22: ${JSON.stringify(values[22])}
  - name: arguments
    command: printf '%s\\n'
    args: ["$S1", "$S4", "$1", "$S25"]
    output: PRINTED
    depends: print
  - name: uses output
    command: test "$PRINTED" != ""
    depends: arguments
  - name: gives a secret
    command: cat given-23
    output: S23
  - name: uses it
    command: sh -c 'set -x; echo "$S23"'
    depends: gives a secret
  - name: condition
    command: echo never
    preconditions: [{condition: "$S7", expected: other}]
  - name: condition command
    command: echo never
    preconditions: ["echo $S8 >&2; false"]
  - name: no directory
    command: echo never
    dir: /nowhere/$S9
    continueOn: {failure: true}
  - name: no program
    command: "$S10"
    continueOn: {failure: true}
  - name: no answer
    executor: http
    command: GET $URL
    continueOn: {failure: true}
  - name: child
    run: child
    params: GIVEN="$S11" OTHER="$S27"
  - name: parent
    run: secretive
    output: RESULT
  - name: told by the child
    command: echo "$RESULT"
    depends: parent
  - name: fails
    script: |
      echo "$S12 $S28"
      echo "$S13" >&2
      exit 3
    retryPolicy: {limit: 1, intervalSec: 0}
    depends: [uses output, uses it]
handlerOn:
  failure:
    command: echo "$WF_ERROR $S14"
  exit:
    command: sh -c 'printf %s "$S15" | base64; echo "$S29"'
`;

const child = `
params: GIVEN= OTHER=
steps:
  - name: show
    command: echo "$GIVEN $OTHER"
    output: SHOWN
`;

const secretive = `
secrets: [INNER]
env:
  - INNER: only-the-child-knows
steps:
  - name: give
    command: echo "value only-the-child-$WHAT"
    env:
      - WHAT: knows
    output: OUT
`;

function withPlanted<T>(use: (cwd: string, run: (...args: string[]) => Promise<Ended>) => Promise<T>): Promise<T> {
  return withDirectory(async (directory) => {
    const cwd = join(directory, 'work');
    mkdirSync(cwd);
    const files: Record<string, string> = { 'w.yaml': planted, 'child.yaml': child, 'secretive.yaml': secretive };
    for (const i of [27, 28, 29]) files[`secret-${i}`] = `${values[i]}\n`;
    for (const i of [20, 23]) files[`given-${i}`] = `${values[i]}\n`;
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
    const fromOutside = Object.fromEntries([24, 25, 26].map((i) => [`FROM_${i}`, values[i] ?? '']));
    const env = { WF_HOME: join(directory, 'home'), ...fromOutside };
    return use(cwd, (...args) => wf(args, { cwd, env }));
  });
}

describe('thirty secrets', () => {
  it.each(['plain', 'json', 'quiet'])('appear nowhere after a run (%s)', async (reporter) => {
    await withPlanted(async (cwd, run) => {
      const given = ['-p', `S0=${values[0]}`, '-p', `OTHER=x${values[16]}x`];
      const { code, stdout, stderr } = await run('run', 'w.yaml', '--reporter', reporter, ...given);
      expect([code, stderr]).toEqual([1, '']);
      const home = filesBelow(join(cwd, '../home'));
      const printed = [
        { path: 'stdout', text: stdout },
        { path: 'stderr', text: stderr },
      ];
      const copies = ['copy.txt', 'copy.err'].map((path) => ({ path, text: readFileSync(join(cwd, path), 'utf8') }));
      expect(found([...home, ...printed, ...copies], [...values, 'only-the-child-knows'])).toEqual([]);
      // They were there to be found.
      expect(home.length).toBeGreaterThan(30);
      expect(copies[0]?.text).toContain('***\n***\n');
      expect(home.filter(({ text }) => text.includes('***')).length).toBeGreaterThan(15);
    });
  });

  it('are stored in many files if they are undeclared', async () => {
    await withPlanted(async (cwd, run) => {
      const open = planted.replace(/^secrets:.*$/m, '').replace(/^smtp:.*$/m, '');
      writeFileSync(join(cwd, 'w.yaml'), open);
      await run('run', 'w.yaml', '-p', `S0=${values[0]}`);
      const hits = found(filesBelow(join(cwd, '../home')), values.slice(0, 20));
      expect(new Set(hits.map((hit) => hit.split(' in ')[0])).size).toBeGreaterThan(60);
    });
  });

  it('are not in a plan', async () => {
    await withPlanted(async (_, run) => {
      for (const flags of [[], ['--json']]) {
        const { code, stdout, stderr } = await run('dry', 'w.yaml', ...flags, '-p', `S0=${values[0]}`);
        expect([code, stderr]).toEqual([0, '']);
        expect(stdout).toContain('***');
        expect(found([{ path: 'stdout', text: stdout + stderr }], values)).toEqual([]);
      }
    });
  });
});

/** Runs one file; gives what was printed and the run's events. */
async function runFile(yaml: string, env: Record<string, string> = {}) {
  return withDirectory(async (cwd) => {
    writeFileSync(join(cwd, 'w.yaml'), yaml);
    const home = join(cwd, 'home');
    const ended = await wf(['run', 'w.yaml', '--reporter', 'json'], { cwd, env: { WF_HOME: home, ...env } });
    const lines = ended.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const texts = lines.filter(({ type }) => type === 'step.output').map(({ text }) => text);
    return { ...ended, lines, texts, summary: lines.at(-1) as { warnings: string[]; error: string | null } };
  });
}

describe('a secret', () => {
  it('keeps its value for the steps', async () => {
    const { code, texts } = await runFile(
      `
secrets: [{name: TOKEN, env: OUTER}]
env:
  - HEADER: Bearer $TOKEN
steps:
  - name: a
    command: test "$TOKEN $HEADER" = "hunter22 Bearer hunter22"
  - name: b
    command: sh -c 'printf "x\${TOKEN}x" | tr a-z b-za'
    output: MOVED
  - name: c
    command: echo "$MOVED"
    depends: b
`,
      { OUTER: 'hunter22' },
    );
    expect([code, texts]).toEqual([0, ['yivoufs22y', 'yivoufs22y']]);
  });

  it('that cannot be read prevents the run', async () => {
    const { code, summary } = await runFile(
      'secrets: [{name: TOKEN, env: NOT_THERE}]\nsteps: [{name: a, command: echo}]\n',
    );
    expect([code, summary.error]).toEqual([1, 'secret "TOKEN": the environment has no variable "NOT_THERE"']);
  });

  it('that is too short to be masked causes a warning, and is hidden as a whole value', async () => {
    const { texts, summary, lines } = await runFile(
      'secrets: [PIN]\nparams: PIN=42\nsteps: [{name: a, command: echo 42, output: X}]\n',
    );
    expect(texts).toEqual(['42']);
    expect(summary.warnings).toEqual(['secret "PIN" is too short to be masked where it is printed']);
    expect(lines.find(({ type }) => type === 'run.prepared')?.['params']).toEqual([
      { name: 'PIN', value: '***', masked: true },
    ]);
  });

  it('in late output of a leftover process are masked, and the process delays no step', async () => {
    const yaml = `
secrets: [TOKEN]
env: [{TOKEN: hunter22}]
steps:
  - name: leave
    command: (while [ ! -e go ]; do sleep 0.01; done; echo "late hunter2"; touch gone; sleep 60) & true
  - name: next
    script: |
      touch go
      while [ ! -e gone ]; do sleep 0.01; done
    depends: leave
`;
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'w.yaml'), yaml.replace('late hunter2', 'late hunter22'));
      const { code } = await wf(['run', 'w.yaml'], { cwd, env: { WF_HOME: join(cwd, 'home') } });
      const logs = filesBelow(join(cwd, 'home/runs')).filter(({ path }) => path.endsWith('leave.1.out'));
      expect([code, logs.map(({ text }) => text)]).toEqual([0, ['late ***\n']]);
    });
  });

  it('does not prevent a script from opening its own output', async () => {
    const { code, texts } = await runFile(
      'secrets: [T]\nenv: [{T: hunter22}]\nsteps: [{name: a, command: "echo $T > /dev/stderr; echo $T > /dev/stdout"}]\n',
    );
    expect([code, texts]).toEqual([0, ['***', '***']]);
  });

  it('does not limit an output of more than 1 MiB', async () => {
    const { code, stdout } = await runFile(
      'secrets: [T]\nenv: [{T: hunter22}]\nsteps: [{name: a, command: "yes $T | head -c 2000000", output: X}]\n',
    );
    expect(code).toBe(1);
    expect(stdout).toContain('output \\"X\\" has 2000000 bytes');
  });
});

describe('a step with a secret output', () => {
  const yaml = `
secrets: [SESSION]
steps:
  - name: login
    script: |
      set -x
      session=session-$((4000 + 711))
      echo "$session"
      curl=token-$((4000 + 711))
      exit $CODE
    output: SESSION
    stderr: copy.err
  - name: use
    command: '[ "$SESSION" = session-$((4000 + 711)) ]'
    depends: login
`;

  it.each(['tree', 'plain', 'json'])('shows nothing of its standard error (%s)', async (reporter) => {
    for (const code of [0, 1]) {
      await withDirectory(async (cwd) => {
        writeFileSync(join(cwd, 'w.yaml'), yaml);
        const env = { WF_HOME: join(cwd, 'home'), WF_REPORTER: reporter, CODE: String(code) };
        const ended = await wf(['run', 'w.yaml', '--run-id', 'r'], { cwd, env });
        const log = await wf(['logs', 'r', 'login'], { cwd, env });
        const files = filesBelow(cwd);
        const texts = [...files.map(({ text }) => text), ended.stdout, ended.stderr, log.stdout];
        expect([ended.code, texts.filter((text) => /session-4711|token-4711/.test(text))]).toEqual([code, []]);
        expect(readFileSync(join(cwd, 'copy.err'), 'utf8')).toBe('***\n');
        expect(log.stdout.match(/\*\*\*/g)).toHaveLength(2);
      });
    }
  });
});

describe('a retry', () => {
  const steps = `
steps:
  - name: login
    command: echo session-4711
    output: SESSION
  - name: migrate
    command: sh -c 'echo migrated >> migrations'
    depends: login
  - name: deploy
    command: sh -c 'test -e ready && test "$SESSION" = session-4711 && test "$TOKEN" = hunter"2"2'
    depends: migrate
`;

  it('gets a secret output again, and asks for secret parameters', async () => {
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'w.yaml'), `secrets: [SESSION, TOKEN]\nparams: TOKEN=\n${steps}`);
      const env = { WF_HOME: join(cwd, 'home') };
      const run = (...args: string[]) => wf(args, { cwd, env });
      expect((await run('run', 'w.yaml', '--run-id', 'r1', '-p', 'TOKEN=hunter22')).code).toBe(1);
      writeFileSync(join(cwd, 'ready'), '');

      const without = await run('retry', 'r1');
      expect([without.code, without.stderr]).toEqual([2, expect.stringContaining('"TOKEN"')]);

      const { code, stdout, stderr } = await run('retry', 'r1', '-p', 'TOKEN=hunter22');
      expect([code, stderr]).toEqual([0, '']);
      expect(stdout).toContain('[login]');
      expect(readFileSync(join(cwd, 'migrations'), 'utf8')).toBe('migrated\n');
      expect(found(filesBelow(join(cwd, 'home')), ['hunter22'])).toEqual([]);
    });
  });

  it('of a file with secrets in it reads the file as it is now', async () => {
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'w.yaml'), `secrets: [TOKEN]\nenv: [{TOKEN: hunter22}]\n${steps}`);
      const env = { WF_HOME: join(cwd, 'home') };
      const run = (...args: string[]) => wf(args, { cwd, env });
      const first = await run('run', 'w.yaml', '--run-id', 'r1');
      await run('report', 'r1');
      const report = readFileSync(join(cwd, 'w-r1.html'), 'utf8');
      for (const text of [first.stdout, (await run('status', 'r1')).stdout, report]) {
        expect(text).toContain('wf retry r1 --file');
      }
      expect(first.code).toBe(1);
      writeFileSync(join(cwd, 'ready'), '');
      expect((await run('retry', 'r1')).code).toBe(2);
      expect((await run('retry', 'r1', '--file')).code).toBe(0);
      expect(found(filesBelow(join(cwd, 'home')), ['hunter22'])).toEqual([]);
    });
  });
});

describe('a secret parameter', () => {
  it('is a variable, and empty in the arguments that every user of the machine can see', async () => {
    const file = `secrets: [TOKEN]
params: "A=1 TOKEN= B=2 ARG=\${2}x"
steps:
  - name: script
    script: |
      tr '\\0' '|' < /proc/$$/cmdline >> seen
      [ "$TOKEN" = hunter22 ] || exit 3
  - name: shell
    command: tr '\\0' '|' < /proc/$$/cmdline >> seen; test "$#-$1-$2-$3" = '4-A=1--B=2'
  - name: word
    command: test "$2" = ""
  - name: condition
    preconditions:
      - condition: tr '\\0' '|' < /proc/$$/cmdline >> seen
    command: "true"
`;
    await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'w.yaml'), file);
      const { code, stdout } = await wf(['run', 'w.yaml', '-p', 'TOKEN=hunter22'], {
        cwd,
        env: { WF_HOME: join(cwd, 'home') },
      });
      const seen = readFileSync(join(cwd, 'seen'), 'utf8');
      expect([code, stdout.includes('FAIL')]).toEqual([0, false]);
      expect(seen.match(/\|A=1\|\|B=2\|ARG=x\|/g)).toHaveLength(3);
      expect(seen).not.toContain('hunter22');
    });
  });
});

describe('without mkfifo', () => {
  it('a step of a workflow with secrets fails with the reason, and others run', async () => {
    await withDirectory(async (cwd) => {
      writeFileSync(
        join(cwd, 'secret.yaml'),
        'secrets: [T]\nenv: [{T: hunter22}]\nsteps: [{name: a, command: /bin/echo}]\n',
      );
      writeFileSync(join(cwd, 'open.yaml'), 'steps: [{name: a, command: /bin/echo}]\n');
      const env = { WF_HOME: join(cwd, 'home'), PATH: cwd };
      const { code, stdout } = await wf(['run', 'secret.yaml'], { cwd, env });
      expect(code).toBe(1);
      expect(stdout).toContain('the output cannot be masked: cannot create a pipe: ');
      expect((await wf(['run', 'open.yaml'], { cwd, env })).code).toBe(0);
    });
  });
});
