import { basicHeader } from '#system/basic-login.ts';
import { messageOf, WfError } from '#system/errors.ts';
import { basicLogin, secret } from './login-settings.ts';
import { readNamedFile } from './named-file.ts';
import type { ReadSetting } from './resolve.ts';

/**
 * The daemon that commands use instead of the runs of this machine. Contains the login in plain text: never print it.
 */
export type ClientSettings = {
  /** Without a login, a query, or a trailing slash. */
  readonly url: string;
  /** The source of the address, for messages: `--server`, `WF_SERVER`, a file. */
  readonly source: string;
  /** The `Authorization` header; null if there is no login. */
  readonly authorization: string | null;
  /** Certificates in PEM, in addition to those that Node trusts; null if there are none. */
  readonly ca: string | null;
};

/**
 * The daemon to use; null if none is set. A login in the address takes precedence over `token`, and `token` over the
 * basic login. Throws a `WfError` `usage` for invalid or contradictory settings.
 */
export function readClientSettings(read: ReadSetting): ClientSettings | null {
  const { value, source } = read('server');
  if (value === null) return null;
  const url = new URL(value);
  if (url.search !== '' || url.hash !== '') {
    throw new WfError('usage', `${source}: "server" must be an address without a query: ${url.protocol}//${url.host}`);
  }
  const inAddress =
    url.username === '' && url.password === '' ? null : { username: url.username, password: url.password };
  const authorization = inAddress === null ? configuredLogin(read) : basicHeader(decodeLogin(inAddress, source));
  const path = url.pathname.replace(/\/+$/, '');
  return { url: `${url.protocol}//${url.host}${path}`, source, authorization, ca: readCa(read) };
}

function configuredLogin(read: ReadSetting): string | null {
  const token = secret(read, 'token', 'tokenFile');
  if (token !== null) return `Bearer ${headerText(token, 'token')}`;
  const login = basicLogin(read);
  return login === null ? null : basicHeader(login);
}

type Login = { readonly username: string; readonly password: string };

function decodeLogin({ username, password }: Login, source: string): Login {
  try {
    return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
  } catch {
    throw new WfError('usage', `${source}: the login in the address of the server is not correctly encoded`, {
      help: 'write a % in it as %25',
    });
  }
}

/** Node's error for an invalid header would contain the secret. */
function headerText(value: string, key: string): string {
  if (/^[\x21-\x7e]+$/.test(value)) return value;
  throw new WfError('usage', `"${key}" must consist of ASCII letters, digits and punctuation, without spaces`);
}

function readCa(read: ReadSetting): string | null {
  const { value: file, source, level } = read('serverCa');
  if (file === null) return null;
  let text: string;
  try {
    text = readNamedFile(file, level);
  } catch (error) {
    const reason = messageOf(error);
    throw new WfError('usage', `${source}: cannot read the certificates of "serverCa": ${reason}`);
  }
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new WfError('usage', `${source}: "${file}" holds no certificate in PEM`);
}
