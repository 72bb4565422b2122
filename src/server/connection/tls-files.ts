import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ServerSettings } from '#config/server-settings.ts';
import { messageOf, WfError } from '#system/errors.ts';

/** A certificate with its chain, and its key, in PEM. */
export type TlsIdentity = { readonly cert: Buffer; readonly key: Buffer };

/** Reads the files and checks that they match. Throws a `WfError` `usage` that names the file. */
export function readTlsIdentity({ cert, key }: NonNullable<ServerSettings['tls']>): TlsIdentity {
  const identity = { cert: read(cert, 'certificate'), key: read(key, 'key') };
  const certificate = parse(`"${cert}" holds no certificate in PEM`, () => new X509Certificate(identity.cert));
  const privateKey = parse(`"${key}" holds no key in PEM, or one with a passphrase`, () =>
    createPrivateKey(identity.key),
  );
  // The TLS library would silently drop such a key and then reject every client.
  if (certificate.checkPrivateKey(privateKey)) return identity;
  throw unusable(`the key in "${key}" is not the one of the certificate in "${cert}"`);
}

function read(path: string, what: string): Buffer {
  return parse(`cannot read the TLS ${what} "${path}"`, () => readFileSync(path));
}

function parse<T>(problem: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw unusable(`${problem}: ${messageOf(error)}`);
  }
}

function unusable(problem: string): WfError {
  return new WfError('usage', problem, { help: 'the two files are set as "tlsCert" and "tlsKey"' });
}
