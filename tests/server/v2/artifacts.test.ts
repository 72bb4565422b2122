import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Artifact } from '#service/history.ts';
import { jsonOf } from '../../support/api-server.ts';
import { type ApiWorld, apiWorld } from '../../support/api-world.ts';
import { wf } from '../../support/wf.ts';

const hostile = '<script>alert(1)</script>\n';
const odd = 'a b;"%2e%2e".html';
const make = [
  'mkdir -p "$WF_ARTIFACTS_DIR/d"',
  'cd "$WF_ARTIFACTS_DIR"',
  'printf 0123456789 > d/ten',
  ': > empty',
  `printf '%s\\n' '<script>alert(1)</script>' > '${odd}'`,
  'head -c 700000 /dev/urandom > random',
].join('\n');
const files = {
  'w.yaml': `type: graph
steps:
  - name: make
    command: sh
    script: |
${make.replace(/^/gm, '      ')}
`,
};

const base = '/api/v2/runs/r/artifacts';
const pathOf = ({ step, path }: Pick<Artifact, 'step' | 'path'>) =>
  `${base}/${encodeURIComponent(step)}/${encodeURIComponent(path)}`;

async function ranWorld(own: Readonly<Record<string, string>> = files): Promise<ApiWorld> {
  const world = await apiWorld(own);
  expect((await world.ask('POST', '/api/v2/workflows/w/runs', { body: { runId: 'r' } })).status).toBe(201);
  await world.runs.settled();
  return world;
}

async function listed({ ask }: ApiWorld, query = ''): Promise<readonly Artifact[]> {
  return jsonOf<{ artifacts: readonly Artifact[] }>(await ask('GET', `${base}${query}`)).artifacts;
}

async function bytesOf({ address }: ApiWorld, path: string): Promise<Buffer> {
  const answer = await fetch(`http://127.0.0.1:${address.port}${path}`);
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

test('the files of a run are listed, and each is sent byte for byte to be saved', async () => {
  const world = await ranWorld();
  const artifacts = await listed(world);
  expect(artifacts.map(({ name, bytes }) => [name, bytes])).toEqual([
    [`make/${odd}`, hostile.length],
    ['make/d/ten', 10],
    ['make/empty', 0],
    ['make/random', 700_000],
  ]);
  for (const artifact of artifacts) {
    const sha256 = createHash('sha256')
      .update(await bytesOf(world, pathOf(artifact)))
      .digest('hex');
    expect([artifact.path, sha256]).toEqual([artifact.path, artifact.sha256]);
  }
  const { headers } = await world.ask('GET', pathOf({ step: 'make', path: odd }));
  expect(headers).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-disposition': `attachment; filename="a-b-2e-2e-.html"; filename*=UTF-8''a%20b%3B%22%252e%252e%22.html`,
    'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
  });
  expect(await listed(world, '?step=make')).toHaveLength(4);
  expect((await world.ask('GET', `${base}?step=other`)).status).toBe(404);
  expect((await world.ask('GET', `${base}?archive=zip`)).status).toBe(400);
});

test('a part of a file is sent, and nothing to a client that has it', async () => {
  const world = await ranWorld();
  const ten = pathOf({ step: 'make', path: 'd/ten' });
  const { etag = '', 'content-length': length } = (await world.ask('HEAD', ten)).headers;
  expect([etag, length]).toEqual([`"${createHash('sha256').update('0123456789').digest('hex')}"`, '10']);
  const part = async (headers: Record<string, string>) => {
    const { status, body, headers: sent } = await world.ask('GET', ten, { headers });
    return [status, body, sent['content-range']];
  };
  expect(await part({ Range: 'bytes=2-4' })).toEqual([206, '234', 'bytes 2-4/10']);
  expect(await part({ Range: 'bytes=-3' })).toEqual([206, '789', 'bytes 7-9/10']);
  expect(await part({ Range: 'bytes=2-4', 'If-Range': etag })).toEqual([206, '234', 'bytes 2-4/10']);
  expect(await part({ Range: 'bytes=2-4', 'If-Range': '"other"' })).toEqual([200, '0123456789', undefined]);
  expect(await part({ 'If-None-Match': `"x", W/${etag}` })).toEqual([304, '', undefined]);
  const beyond = await world.ask('GET', ten, { headers: { Range: 'bytes=10-' } });
  expect([beyond.status, beyond.headers['content-range']]).toEqual([416, 'bytes */10']);
});

test('wf artifacts lists and writes them from another machine, and notices other bytes', async () => {
  const world = await ranWorld();
  const server = `http://127.0.0.1:${world.address.port}`;
  const env = { WF_HOME: join(world.directory, 'other') };
  const at = (...args: readonly string[]) =>
    wf(['artifacts', ...args, '--server', server], { cwd: world.directory, env });
  expect(JSON.parse((await at('@latest', '--json')).stdout)).toEqual(await listed(world));
  expect((await at('r', 'make')).stdout).toContain('4 files, 684 KiB');
  expect((await at('r', 'other')).stderr).toContain('has no step "other"');
  expect((await at('get', 'r', '**/ten', '--to', '-')).stdout).toBe('0123456789');
  expect((await at('get', 'r', '--to', 'out')).code).toBe(0);
  for (const artifact of await listed(world)) {
    const written = readFileSync(join(world.directory, 'out', artifact.name));
    expect(written.equals(await bytesOf(world, pathOf(artifact)))).toBe(true);
  }
  const own = join((await world.app.history.read('r'))?.stored?.artifacts.directory ?? '', 'make/d/ten');
  writeFileSync(own, '9876543210');
  const { code, stderr } = await at('get', 'r', 'make/d/ten', '--to', 'new');
  expect([code, stderr]).toEqual([
    expect.any(Number),
    expect.stringContaining('the daemon sent other bytes of the artifact "make/d/ten" than those that the step kept'),
  ]);
  expect(existsSync(join(world.directory, 'new/make/d/ten'))).toBe(false);
});

test('an archive has the files under their names', async () => {
  const world = await ranWorld();
  const archive = join(world.directory, 'all.tar.gz');
  writeFileSync(archive, await bytesOf(world, `${base}?archive=tar.gz`));
  const names = execFileSync('tar', ['-tzf', archive], { encoding: 'utf8' }).trim().split('\n');
  expect(names).toEqual((await listed(world)).map(({ name }) => name));
  const random = execFileSync('tar', ['-xzOf', archive, 'make/random'], { maxBuffer: 2 ** 21 });
  expect(random.equals(await bytesOf(world, pathOf({ step: 'make', path: 'random' })))).toBe(true);
});

test('only what the list has is opened, and never through a link', async () => {
  const world = await ranWorld();
  const own = join((await world.app.history.read('r'))?.stored?.artifacts.directory ?? '', 'make');
  writeFileSync(join(own, 'unlisted'), 'x');
  for (const path of ['unlisted', '../make/d/ten', 'd/../d/ten', '/etc/passwd', 'd', 'd/ten/', '..%2Fmake'])
    expect([path, (await world.ask('GET', pathOf({ step: 'make', path }))).status]).toEqual([path, 404]);
  unlinkSync(join(own, 'random'));
  symlinkSync('/etc/passwd', join(own, 'random'));
  writeFileSync(join(own, 'empty'), 'changed');
  rmSync(join(own, 'd'), { recursive: true });
  symlinkSync('/etc', join(own, 'd'));
  for (const path of ['random', 'd/ten', 'empty']) {
    const { status, body } = await world.ask('GET', pathOf({ step: 'make', path }));
    expect([path, status, body.includes('root:')]).toEqual([path, 500, false]);
  }
  await expect(bytesOf(world, `${base}?archive=tar.gz`)).rejects.toThrow();
});

test('files that have been removed are still listed, and not found', async () => {
  const world = await ranWorld();
  rmSync((await world.app.history.read('r'))?.stored?.artifacts.directory ?? '', { recursive: true });
  expect((await listed(world)).map(({ removed }) => removed)).toEqual([true, true, true, true]);
  for (const path of [pathOf({ step: 'make', path: 'd/ten' }), `${base}?archive=tar.gz`]) {
    const { status, body } = await world.ask('GET', path);
    expect([status, body]).toEqual([404, expect.stringContaining('the artifacts of run r have been removed')]);
  }
});

test('an archive never has a name that leads out of a directory', async () => {
  const each = `steps: [{name: each, parallel: ["..", a], command: sh -c 'echo > $WF_ARTIFACTS_DIR/x'}]\n`;
  const world = await ranWorld({ 'w.yaml': each });
  const artifacts = await listed(world);
  expect(artifacts.map(({ name }) => name)).toEqual(['each/../x', 'each/a/x']);
  const { status, body } = await world.ask('GET', `${base}?archive=tar.gz`);
  expect([status, body]).toEqual([409, expect.stringContaining('has no name for a file')]);
  for (const artifact of artifacts) expect((await bytesOf(world, pathOf(artifact))).toString()).toBe('\n');
  expect((await world.ask('GET', `${base}?archive=tar.gz&step=each%5Ba%5D`)).status).toBe(200);
});
