import { readFileSync } from 'node:fs';
import { basicHeader } from '#system/basic-login.ts';
import { messageOf, WfError } from '#system/errors.ts';
import { readRegular } from '#system/files.ts';
import type { Level, ReadSetting } from './resolve.ts';
import type { SettingKey } from './settings.ts';

/**
 * The text of a file that a setting names. On the command line and in a variable it may be a pipe (`--token-file
 * <(show)`), which is read to its end; a file named in a configuration file must not block, as every command reads it.
 */
function readNamedFile(path: string, level: Level, problem: string): string {
  const mayBePipe = level === 'flag' || level === 'variable';
  try {
    return mayBePipe ? readFileSync(path, 'utf8') : readRegular(path).toString('utf8');
  } catch (error) {
    throw new WfError('usage', `${problem}: ${messageOf(error)}`);
  }
}

/** A user name and its password, in plain text. */
type BasicLogin = { readonly username: string; readonly password: string };

/**
 * A secret from a setting, or from the file that another setting names; the one closer to the command line takes
 * precedence. Throws a `WfError` `usage` for both at once, and for a file without exactly one line.
 */
export function secret(
  read: ReadSetting,
  key: 'token' | 'readOnlyToken' | 'password' | 'engineLogsToken',
  fileKey: 'tokenFile' | 'readOnlyTokenFile' | 'passwordFile' | 'engineLogsTokenFile',
): string | null {
  const direct = read(key);
  const inFile = read(fileKey);
  const { value: file, level } = inFile;
  if (file === null) return direct.value;
  if (direct.value === null || nearness[level] > nearness[direct.level]) {
    const content = readNamedFile(file, level, `cannot read the file that "${fileKey}" names`).trim();
    if (content !== '' && !content.includes('\n')) return content;
    throw new WfError('usage', `"${file}", which "${fileKey}" names, must hold one line that is not empty`);
  }
  if (nearness[level] < nearness[direct.level]) return direct.value;
  throw new WfError('usage', `"${key}" (${direct.source}) and "${fileKey}" (${inFile.source}) exclude each other`);
}

const nearness = { flag: 4, variable: 3, project: 2, user: 1, default: 0 } as const;

/** The basic login; null if there is none. Throws a `WfError` `usage` if only one half of it is set. */
export function basicLogin(read: ReadSetting): BasicLogin | null {
  const { value: username } = read('username');
  const password = secret(read, 'password', 'passwordFile');
  if (username === null && password === null) return null;
  if (username === null) throw otherHalf('username', 'the basic login has a password but no user name');
  if (password === null) throw otherHalf('password', 'the basic login has a user name but no password');
  if (username.includes(':')) throw new WfError('usage', '"username" cannot contain a colon');
  return { username, password };
}

const MIN_TOKEN_LENGTH = 16;

/** The token with which workers store logs in a daemon; null: it is not set. Throws a `WfError` `usage` for a short one. */
export function readLogStoreToken(read: ReadSetting): string | null {
  const token = secret(read, 'engineLogsToken', 'engineLogsTokenFile');
  if (token === null || (token.length >= MIN_TOKEN_LENGTH && /^[\x21-\x7e]+$/.test(token))) return token;
  throw new WfError(
    'usage',
    `"engineLogsToken" must be at least ${MIN_TOKEN_LENGTH} ASCII letters, digits and punctuation, without spaces`,
    { help: 'create one: openssl rand -hex 16' },
  );
}

/** The error for the first of two settings that need each other. */
export function otherHalf(key: SettingKey, problem: string): WfError {
  return new WfError('usage', problem, { help: `set "${key}", or remove the other setting` });
}

/** The daemon that commands use. Contains the login in plain text: never print it. */
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
  const { username, password } = url;
  const isInAddress = username !== '' || password !== '';
  const authorization = isInAddress ? basicHeader(decodeLogin({ username, password }, source)) : configuredLogin(read);
  const path = url.pathname.replace(/\/+$/, '');
  return { url: `${url.protocol}//${url.host}${path}`, source, authorization, ca: readCa(read) };
}

function configuredLogin(read: ReadSetting): string | null {
  const token = secret(read, 'token', 'tokenFile');
  // Node's error for an invalid header would contain the secret.
  if (token !== null && !/^[\x21-\x7e]+$/.test(token)) {
    throw new WfError('usage', '"token" must consist of ASCII letters, digits and punctuation, without spaces');
  }
  if (token !== null) return `Bearer ${token}`;
  const login = basicLogin(read);
  return login === null ? null : basicHeader(login);
}

function decodeLogin({ username, password }: BasicLogin, source: string): BasicLogin {
  try {
    return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
  } catch {
    throw new WfError('usage', `${source}: the login in the address of the server is not correctly encoded`, {
      help: 'write a % in it as %25',
    });
  }
}

function readCa(read: ReadSetting): string | null {
  const { value: file, source, level } = read('serverCa');
  if (file === null) return null;
  const text = readNamedFile(file, level, `${source}: cannot read the certificates of "serverCa"`);
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  throw new WfError('usage', `${source}: "${file}" holds no certificate in PEM`);
}
