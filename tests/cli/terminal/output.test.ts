import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { describeWith } from '../../support/require.ts';
import { launcher, wf, withDirectory } from '../../support/wf.ts';

/** Runs a file of a directory, the home of `wf` in it. */
function runIn(cwd: string, yaml: string) {
  writeFileSync(join(cwd, 'w.yaml'), yaml);
  return wf(['run', 'w.yaml'], { cwd, env: { WF_HOME: join(cwd, 'home') } });
}

describe('the output of a step', () => {
  test('is the value of its "output", even if the step removes the directory of its log', async () => {
    await withDirectory(async (cwd) => {
      const yaml = `logDir: ${cwd}/logs
steps:
  - name: a
    command: echo kept; rm -rf logs
    output: OUT
  - name: b
    depends: a
    command: echo "<$OUT>"
`;
      const { code, stdout, stderr } = await runIn(cwd, yaml);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('<kept>');
    });
  });

  test('goes to a file instead of the environment if it contains a NUL', async () => {
    await withDirectory(async (cwd) => {
      const yaml = `steps:
  - name: a
    command: printf 'a\\0b'
    output: OUT
  - name: b
    depends: a
    command: od -An -c "$WF_OUTPUT_FILE_OUT"
  - name: c
    depends: a
    command: echo "$OUT"
    continueOn: {failure: true}
handlerOn:
  exit:
    command: echo cleaned up
`;
      const { code, stdout } = await runIn(cwd, yaml);
      expect(code).toBe(0);
      expect(stdout).toMatch(/\[b\] \| +a +\\0 +b/);
      expect(stdout).toContain('argument 1 of "echo" contains a NUL character');
      expect(stdout).toContain('| cleaned up');
    });
  });

  test.each(['', 'secrets: [OUT]\n', 'secrets: [KEY]\nenv: {KEY: unprinted}\n'])(
    'with a NUL is reported as a warning: %j',
    async (head) => {
      await withDirectory(async (cwd) => {
        const yaml = `${head}steps: [{name: a, command: "printf 'a\\\\0b'", output: OUT}]\n`;
        const { code, stdout, stderr } = await runIn(cwd, yaml);
        expect(code).toBe(0);
        expect(`${stdout}${stderr}`).toContain(
          'the output "OUT" contains a NUL character and cannot be an environment variable: ' +
            'read it from the file $WF_OUTPUT_FILE_OUT',
        );
      });
    },
  );

  test.each(["printf 'caf\\\\351'", "printf '\\\\377\\\\000'"])(
    'with bytes that are not UTF-8 is reported as a warning: %s',
    async (command) => {
      await withDirectory(async (cwd) => {
        const { code, stdout } = await runIn(cwd, `steps: [{name: a, command: "${command}", output: OUT}]\n`);
        expect(code).toBe(0);
        expect(stdout).toContain(
          '"OUT" contains U+FFFD, the replacement for bytes that are not UTF-8: write such data to',
        );
      });
    },
  );

  test.each([
    ['/proc/none/file', 'cannot write "/proc/none/file": no such file or directory'],
    ['/', 'cannot write "/": illegal operation on a directory'],
    ['/dev/full', 'cannot write "/dev/full": no space left on device'],
  ])('to %s is reported with the reason', async (file, message) => {
    await withDirectory(async (cwd) => {
      const { code, stdout } = await runIn(cwd, `steps:\n  - name: a\n    command: echo 1\n    stdout: ${file}\n`);
      expect({ code, recap: stdout.split('\n').find((line) => line.startsWith('✖')) }).toEqual({
        code: 1,
        recap: `✖ a   ${message}   w.yaml:2:5`,
      });
    });
  });

  test('is not written to a missing directory, which is not created', async () => {
    await withDirectory(async (cwd) => {
      const yaml = 'steps:\n  - name: a\n    command: echo 1\n    dir: none\n    stdout: logs/a.txt\n';
      const { code, stdout } = await runIn(cwd, yaml);
      expect({ code, made: existsSync(join(cwd, 'none')) }).toEqual({ code: 1, made: false });
      expect(stdout).toContain(`✖ a   directory "${cwd}/none" does not exist`);
    });
  });
});

/** A shell in which file systems can be mounted that are gone with it. */
const inNamespace = ['--map-root-user', '--mount', 'sh', '-ec'];
const canMount = spawnSync('unshare', [...inNamespace, 'mount -t tmpfs none /mnt']).status === 0;

/** Runs the steps with logs on a disk of 256 KB. */
function runOnFullDisk(cwd: string, steps: string) {
  mkdirSync(join(cwd, 'disk'));
  writeFileSync(join(cwd, 'w.yaml'), `logDir: ${cwd}/disk\n${steps}`);
  const script = 'mount -t tmpfs -o size=256k none disk; exec "$0" "$@"';
  return spawnSync('unshare', [...inNamespace, script, process.execPath, launcher, 'run', 'w.yaml'], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', WF_HOME: join(cwd, 'home') },
    encoding: 'utf8',
  });
}

describeWith('unshare', canMount, 'on a full disk', () => {
  test('fails a program that cannot write, with the reason', async () => {
    await withDirectory(async (cwd) => {
      const { status, stdout } = runOnFullDisk(cwd, 'steps:\n  - name: a\n    command: head -c 600000 /dev/zero\n');
      expect(status).toBe(1);
      expect(stdout).toContain('✖ a   exit 1 (no space is left on the device of its log)');
    });
  });

  test('an "output" is whole although its log is not', async () => {
    await withDirectory(async (cwd) => {
      const { status, stdout } = runOnFullDisk(
        cwd,
        `steps:
  - name: a
    command: head -c 600000 /dev/zero | tr '\\0' x || true
    output: OUT
  - name: b
    depends: a
    command: test "$(wc -c <"$WF_OUTPUT_FILE_OUT")" = 600000
`,
      );
      expect([status, stdout]).toEqual([0, expect.stringContaining('[b] OK')]);
      expect(stdout).toContain('WARN   the output of "a" is not stored: ENOSPC');
    });
  });
});
