import { closeSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import {
  type Artifact,
  archiveOf,
  artifactsOf,
  bytesOfArtifact,
  isSafeName,
  openArtifact,
  type PastRun,
  storedArtifacts,
} from '#service/history.ts';
import { WfError } from '#system/errors.ts';
import { createStreamWriter } from '../../reply/event-stream.ts';
import { HttpError, jsonReply, type Reply, readQuery } from '../../route.ts';
import { byteRange } from '../logs/step-log.ts';
import { namedRun, type V2Handler } from '../v2-parts.ts';

/** `GET /api/v2/runs/{id}/artifacts`. */
export const showArtifacts: V2Handler = async ({ params: { id = '' }, query }, parts) => {
  const { step, archive } = readQuery('listArtifacts', query);
  const run = await namedRun(id, parts);
  const artifacts = artifactsOf(run, step);
  return archive === null ? jsonReply({ artifacts }) : archiveReply(run, artifacts);
};

function archiveReply(run: PastRun, artifacts: readonly Artifact[]): Reply {
  // An error before the answer begins.
  for (const removed of artifacts.filter((artifact) => artifact.removed).slice(0, 1)) openArtifact(run, removed);
  const unsafe = artifacts.find(({ name }) => !isSafeName(name));
  if (unsafe !== undefined) {
    const message = `the artifact ${JSON.stringify(unsafe.name)} has no name for a file`;
    throw new WfError('conflict', message, { help: 'request the files one by one' });
  }
  return {
    status: 200,
    headers: { 'Content-Type': 'application/gzip', ...attachment(`${run.runId}.tar.gz`) },
    stream: async (output, signal) => {
      await pipeline(copies(archiveOf(storedArtifacts(run), artifacts)), createGzip(), output, { signal, end: false });
    },
  };
}

/** The chunks as a stream that reads ahead: each is valid only until the next one. */
function copies(chunks: AsyncIterable<Uint8Array>): Readable {
  const copied = async function* () {
    for await (const chunk of chunks) yield Buffer.from(chunk);
  };
  return Readable.from(copied(), { objectMode: false });
}

/** `GET /api/v2/runs/{id}/artifacts/{step}/{path}`. */
export const showArtifact: V2Handler = async ({ params: { id = '', step = '', path = '' }, headers }, parts) => {
  const run = await namedRun(id, parts);
  const found = artifactsOf(run, step).find((each) => each.step === step && each.path === path);
  if (found === undefined) {
    const help = `GET /api/v2/runs/${run.runId}/artifacts lists them`;
    throw new WfError('not-found', `step "${step}" has kept no file ${JSON.stringify(path)}`, { help });
  }
  const { bytes: size, sha256 } = found;
  const tag = `"${sha256}"`;
  const own = {
    'Content-Type': 'application/octet-stream',
    'Cache-Control': 'private, no-cache',
    'Accept-Ranges': 'bytes',
    ETag: tag,
    ...attachment(path.split('/').at(-1) ?? ''),
  };
  if (isKnown(headers['if-none-match'], tag)) return { status: 200, headers: own, body: '' };
  const mayRange = headers['if-range'] === undefined || headers['if-range'] === tag;
  const range = byteRange(mayRange ? headers.range : undefined, size);
  if (range === 'unsatisfiable') {
    throw new HttpError(416, `the file has ${size} bytes`, { headers: { 'Content-Range': `bytes */${size}` } });
  }
  // A missing file is an error before the answer begins.
  closeSync(openArtifact(run, found));
  const { from, to } = range ?? { from: 0, to: size };
  const shown = range === null ? {} : { 'Content-Range': `bytes ${from}-${to - 1}/${size}` };
  return {
    status: range === null ? 200 : 206,
    headers: { ...own, ...shown, 'Content-Length': String(to - from) },
    stream: async (output, signal) => {
      const writer = createStreamWriter(output, signal, parts.clock);
      let left = to - from;
      for await (const chunk of bytesOfArtifact(run, found, { from, to })) {
        left -= chunk.length;
        writer.write(chunk);
        if (writer.isBehind()) await writer.caughtUp();
        if (writer.isClosed()) return;
      }
      // The file was cut meanwhile: the response must not look complete.
      if (left > 0) output.destroy();
    },
  };
};

function isKnown(header: string | undefined, tag: string): boolean {
  return (header ?? '').split(',').some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === tag);
}

/** Headers by which no browser shows or runs what a step has made, whatever it is. */
function attachment(name: string) {
  const plain = name.replace(/[^A-Za-z0-9._-]+/g, '-').slice(-200);
  return {
    'Content-Disposition': `attachment; filename="${plain}"; filename*=UTF-8''${encoded(name)}`,
    'Content-Security-Policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
  };
}

/** A text as RFC 8187 writes it. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
