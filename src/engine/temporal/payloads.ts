import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { deflateSync, inflateSync } from 'node:zlib';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { messageOf, WfError } from '#system/errors.ts';
import { UNREADABLE } from './protocol.ts';

/** Shorter payloads are not compressed. */
const COMPRESS_FROM_BYTES = 1024;
const KEY_BYTES = 32;
const [NONCE_BYTES, TAG_BYTES] = [12, 16];
const COMPRESSED = 'binary/zlib';
const ENCRYPTED = 'binary/encrypted';

/** Reads the key of payloads: 32 bytes, plain or in base64. Throws a `WfError` `usage`. */
export function readEngineKey(path: string): Buffer {
  const help = 'create one: head -c 32 /dev/urandom | base64';
  try {
    const bytes = readFileSync(path);
    const key = bytes.length === KEY_BYTES ? bytes : Buffer.from(bytes.toString('latin1').trim(), 'base64');
    if (key.length === KEY_BYTES) return key;
  } catch (cause) {
    throw new WfError('usage', `the key of the engine cannot be read: ${messageOf(cause)}`, { cause, help });
  }
  throw new WfError('usage', `"${path}" is no key of 32 bytes`, { help });
}

/** Tells keys apart without telling anything about them. */
export function keyId(key: Buffer): string {
  return createHmac('sha256', key).update('wf engine key').digest('hex').slice(0, 8);
}

/** Data of a run that this key, or this version, cannot read. */
class UnreadableData extends WfError {
  constructor(message: string, options: { readonly help?: string; readonly cause?: unknown }) {
    super('usage', message, options);
    this.name = UNREADABLE;
  }
}

/**
 * Compresses payloads above 1 KiB, and encrypts all of them if there is a key (AES-256-GCM: nonce, data, tag). Decoding
 * throws `UnreadableData` without the right key, and with a key also for data that is not encrypted: who has no key must
 * not give orders.
 */
export function payloadCodec(key: Buffer | null): PayloadCodec {
  return {
    encode: async (payloads) => payloads.map((payload) => encrypted(compressed(payload), key)),
    decode: async (payloads) => payloads.map((payload) => readable(() => decompressed(decrypted(payload, key)))),
  };
}

function readable(decode: () => Payload): Payload {
  try {
    return decode();
  } catch (cause) {
    if (cause instanceof UnreadableData) throw cause;
    throw new UnreadableData(`the data of this run is damaged: ${messageOf(cause)}`, { cause });
  }
}

type Coded = { readonly metadata: Readonly<Record<string, string>>; readonly data: string };

function compressed(payload: Payload): Payload {
  if ((payload.data?.length ?? 0) < COMPRESS_FROM_BYTES) return payload;
  return { metadata: { encoding: Buffer.from(COMPRESSED) }, data: deflateSync(packed(payload)) };
}

function decompressed(payload: Payload): Payload {
  return encodingOf(payload) === COMPRESSED ? unpacked(inflateSync(payload.data ?? new Uint8Array())) : payload;
}

function encrypted(payload: Payload, key: Buffer | null): Payload {
  if (key === null) return payload;
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const data = Buffer.concat([nonce, cipher.update(packed(payload)), cipher.final(), cipher.getAuthTag()]);
  return { metadata: { encoding: Buffer.from(ENCRYPTED) }, data };
}

function decrypted(payload: Payload, key: Buffer | null): Payload {
  if (encodingOf(payload) !== ENCRYPTED) {
    if (key === null) return payload;
    throw new UnreadableData('the data of this run is not encrypted, and there is a key', {
      help: 'workers and callers of an engine need the same engineKeyFile',
    });
  }
  if (key === null)
    throw new UnreadableData('the data of this run is encrypted', { help: 'set engineKeyFile to its key' });
  const data = Buffer.from(payload.data ?? new Uint8Array());
  const [end, nonce] = [data.length - TAG_BYTES, data.subarray(0, NONCE_BYTES)];
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce);
    decipher.setAuthTag(data.subarray(end));
    return unpacked(Buffer.concat([decipher.update(data.subarray(NONCE_BYTES, end)), decipher.final()]));
  } catch (cause) {
    throw new UnreadableData('the data of this run was encrypted with another key', {
      help: 'workers and callers of an engine need the same engineKeyFile',
      cause,
    });
  }
}

function encodingOf({ metadata }: Payload): string {
  return Buffer.from(metadata?.['encoding'] ?? new Uint8Array()).toString();
}

/** A payload as JSON: its fields are bytes. */
function packed({ metadata, data }: Payload): Buffer {
  const base64 = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? new Uint8Array()).toString('base64');
  const fields = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, base64(bytes)]);
  return Buffer.from(JSON.stringify({ metadata: Object.fromEntries(fields), data: base64(data) } satisfies Coded));
}

function unpacked(bytes: Uint8Array): Payload {
  const { metadata, data } = JSON.parse(Buffer.from(bytes).toString()) as Coded;
  const fields = Object.entries(metadata).map(([name, text]) => [name, Buffer.from(text, 'base64')]);
  return { metadata: Object.fromEntries(fields), data: Buffer.from(data, 'base64') };
}
