import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

/** A registry on this machine with one image, `image`, of one layer. */
export type TestRegistry = {
  /** With its registry and tag: `127.0.0.1:4711/team/tool:1`. */
  readonly image: string;
  /** The logins that it was given, each once and in order; null: none. */
  readonly logins: readonly (string | null)[];
  readonly stop: () => void;
};

type Blob = { readonly type: string; readonly bytes: Buffer };

/**
 * Starts a registry whose image has the files of a tar archive and this configuration. With a `login` (`name:password`)
 * it is closed to everybody else. Source: OCI Distribution Specification 1.1, "Pulling content".
 */
export async function startRegistry(archive: Buffer, config: object, login: string | null): Promise<TestRegistry> {
  const blobs = imageBlobs(archive, config);
  const logins: (string | null)[] = [];
  const server = createServer((request, response) => {
    const given = decode(request.headers.authorization);
    if (!logins.includes(given)) logins.push(given);
    if (login !== null && given !== login) refuse(response);
    else answer(response, blobs.get(request.url?.split('/').at(-1) ?? ''));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    image: `127.0.0.1:${port}/team/tool:1`,
    logins,
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Everything that can be asked for by the last part of its address: the tag, and digests. */
function imageBlobs(archive: Buffer, config: object): ReadonlyMap<string, Blob> {
  const layer = blob('application/vnd.docker.image.rootfs.diff.tar.gzip', gzipSync(archive));
  const settings = blob(
    'application/vnd.docker.container.image.v1+json',
    Buffer.from(
      JSON.stringify({
        architecture: process.arch === 'x64' ? 'amd64' : process.arch,
        os: 'linux',
        config,
        rootfs: { type: 'layers', diff_ids: [digest(archive)] },
      }),
    ),
  );
  const type = 'application/vnd.docker.distribution.manifest.v2+json';
  const manifest = { schemaVersion: 2, mediaType: type, config: descriptor(settings), layers: [descriptor(layer)] };
  const top = blob(type, Buffer.from(JSON.stringify(manifest)));
  const known = [layer, settings, top].map((each) => [digest(each.bytes), each] as const);
  return new Map([...known, ['1', top], ['', blob('application/json', Buffer.from('{}'))]]);
}

function blob(type: string, bytes: Buffer): Blob {
  return { type, bytes };
}

function descriptor({ type, bytes }: Blob): object {
  return { mediaType: type, size: bytes.length, digest: digest(bytes) };
}

function digest(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function decode(authorization: string | undefined): string | null {
  return authorization === undefined ? null : Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
}

function refuse(response: ServerResponse): void {
  response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="test"' }).end();
}

function answer(response: ServerResponse, found: Blob | undefined): void {
  if (found === undefined) {
    response.writeHead(404, { 'Content-Type': 'application/json' }).end('{"errors":[{"code":"MANIFEST_UNKNOWN"}]}');
    return;
  }
  const headers = { 'Content-Type': found.type, 'Docker-Content-Digest': digest(found.bytes) };
  response.writeHead(200, { ...headers, 'Content-Length': found.bytes.length }).end(found.bytes);
}
