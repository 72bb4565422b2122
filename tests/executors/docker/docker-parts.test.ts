import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { tarOfFile } from '#executors/docker/container.ts';
import { demultiplexer, startProblem } from '#executors/docker/container-end.ts';
import { DockerProblem } from '#executors/docker/docker-daemon.ts';
import { settingValue } from '#executors/docker/docker-settings.ts';
import { reportPull } from '#executors/docker/image.ts';
import { withoutExpansions } from '#executors/docker/invocation.ts';
import { isOwnerGone, ownerLabel } from '#executors/docker/orphans.ts';
import { temporaryDirectory } from '../attempt.ts';

describe("frames of a container's output", () => {
  const frames = Buffer.concat([frame(1, 'ab'), frame(2, 'é'), frame(1, ''), frame(1, 'c'), frame(3, 'd')]);

  function frame(stream: number, text: string): Buffer {
    const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0]);
    header.writeUInt32BE(Buffer.byteLength(text), 4);
    return Buffer.concat([header, Buffer.from(text)]);
  }

  test.each([1, 2, 3, 7, 8, 9, 100])('are parsed however they arrive: %d bytes at once', (size) => {
    const got: Record<string, Buffer[]> = { stdout: [], stderr: [] };
    const take = demultiplexer((stream, chunk) => got[stream]?.push(Buffer.from(chunk)));
    for (let at = 0; at < frames.length; at += size) take(frames.subarray(at, at + size));
    const text = (stream: string) => Buffer.concat(got[stream] ?? []).toString();
    expect({ stdout: text('stdout'), stderr: text('stderr') }).toEqual({ stdout: 'abc', stderr: 'éd' });
  });

  test('are passed on before they are complete', () => {
    const got: string[] = [];
    const take = demultiplexer((_, chunk) => got.push(chunk.toString()));
    take(frame(1, 'abc').subarray(0, 10));
    expect(got).toEqual(['ab']);
  });
});

test.each([0, 1, 511, 512, 100_000])('an archive contains a script of %d bytes unchanged', (length) => {
  const folder = temporaryDirectory();
  const text = 'x'.repeat(length);
  writeFileSync(join(folder, 'a.tar'), tarOfFile('script', text));
  execFileSync('tar', ['-C', folder, '-xpf', join(folder, 'a.tar')]);
  const list = execFileSync('tar', ['-tvf', join(folder, 'a.tar')], { encoding: 'utf8' });
  expect(readFileSync(join(folder, 'script'), 'utf8')).toBe(text);
  expect(list).toMatch(/^-rwxr-xr-x root\/root +\d+ .* script\n$|^-rwxr-xr-x 0\/0 +\d+ .* script\n$/);
});

test.each([
  ['get https://h/?a=1&b=[2]', 'get https://h/\\?a=1\\&b=\\[2\\]'],
  ['a \'b?\' "c*" $X?', 'a \'b?\' "c*" $X\\?'],
  ['~ a#b #c', '\\~ a\\#b \\#c'],
  ['a\n', 'a'],
  ['a & b', null],
  ['a &', null],
  ['a && b', null],
  ['a|b', null],
  ['a > b', null],
  ['a $(b)', null],
  ['a "$(b)"', null],
  ['a `b`', null],
  ['a\nb', null],
  ['a ${X%y}', null],
  ['a "b', null],
])('the command %j without a shell is %j', (command, literal) => {
  expect(withoutExpansions(command)).toBe(literal);
});

test.each([
  ['memory', '512m', 512 * 1024 ** 2],
  ['memory', '1.5 GiB', 1.5 * 1024 ** 3],
  ['shmSize', '64kb', 64 * 1024],
  ['memorySwap', '-1', -1],
  ['memory', '100', 100],
  ['pidsLimit', '20', 20],
  ['privileged', 'false', false],
  ['tty', 'Yes', true],
  ['user', '1000', '1000'],
])('the setting %s: %s is %s for Docker', (name, text, value) => {
  expect(settingValue(name, text)).toBe(value);
});

test.each([
  ['memory', 'lots', '"memory" is "lots", which is not a size such as 512m'],
  ['pidsLimit', '1.5', '"pidsLimit" is "1.5", which is not a whole number'],
  ['tty', 'perhaps', '"tty" is "perhaps", which is neither true nor false'],
])('the setting %s cannot be %s', (name, text, message) => {
  expect(() => settingValue(name, text)).toThrow(message);
});

describe('the owner of a container', () => {
  const own = JSON.parse(ownerLabel());
  const dead = { ...own, pid: 2 ** 30 };

  test.each([
    ['is this process', own, false],
    ['has ended', dead, true],
    ['was another process with the same number', { ...own, startTime: own.startTime - 1 }, true],
    ['ended with an earlier boot', { ...dead, boot: 'earlier', namespace: '1' }, true],
    ['is of another machine', { ...dead, machine: 'other' }, false],
    ['is of another user', { ...dead, uid: 12345 }, false],
    ['cannot be seen from here', { ...dead, namespace: '1' }, false],
    ['is not told', null, false],
    ['is told in another way', 'me', false],
  ])('that %s', (_, owner, isGone) => {
    expect(isOwnerGone(JSON.stringify(owner))).toBe(isGone);
  });

  test('that is not JSON', () => {
    expect(isOwnerGone('x')).toBe(false);
  });
});

const noFolder = 'chdir to cwd ("/nope") set in config.json failed: no such file or directory';

test.each([
  [`OCI runtime exec failed: exec failed: unable to start container process: ${noFolder}: unknown\r\n`],
  [
    `OCI runtime exec failed: exec failed: container_linux.go:380: starting container process caused: ${noFolder}: unknown`,
  ],
  [`OCI runtime exec failed: exec failed: ${noFolder}`],
])('the reason is taken out of %j', (message) => {
  expect(startProblem(message, 'container "db"')).toEqual(
    new DockerProblem(`the command could not start in container "db": ${noFolder}`, 126),
  );
});

test('the output of a program is not a reason why it could not start', () => {
  expect(startProblem('the runtime failed: no', 'container "db"')).toBe(null);
});

test('a pull prints a line for every layer, not for every chunk', async () => {
  const chunks = Array.from({ length: 500 }, (_, i) => ({
    id: 'a',
    status: 'Downloading',
    progressDetail: { current: i },
  }));
  const events = [
    { status: 'Pulling from library/x', id: '1' },
    { status: 'Already exists', id: 'z' },
    { status: 'Pulling fs layer', id: 'a' },
    { status: 'Pulling fs layer', id: 'b' },
    ...chunks,
    { status: 'Pull complete', id: 'a' },
    { status: 'Pull complete', id: 'b' },
    { status: 'Digest: sha256:0' },
    { status: 'Status: Downloaded newer image for x:1' },
  ];
  const text = events.map((event) => `${JSON.stringify(event)}\r\n`).join('');
  const lines: string[] = [];
  await reportPull(Readable.from([Buffer.from(text.slice(0, 33)), Buffer.from(text.slice(33))]), 'x:1', (line) =>
    lines.push(line),
  );
  expect(lines).toEqual([
    'pulling x:1',
    'pulling x:1: layer 1 of 2',
    'pulling x:1: layer 2 of 2',
    'Downloaded newer image for x:1',
  ]);
});
