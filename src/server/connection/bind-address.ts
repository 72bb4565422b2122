import { lookup } from 'node:dns/promises';
import type { ServerSettings } from '#config/server-settings.ts';
import { messageOf, WfError } from '#system/errors.ts';

/** The minimum length of a token or password on a network address, in characters. */
const MIN_LOGIN_LENGTH = 16;

/**
 * Resolves a host to the address to listen on. Throws a `WfError` `usage` for an address that other machines can reach
 * if no login is required or a token or password is short. A name is resolved only once, so that the server listens on the checked
 * address.
 */
export async function bindAddress(host: string, login: ServerSettings['login']): Promise<string> {
  const address = await resolveHost(host.replace(/^\[(.*)\]$/, '$1'));
  if (isLoopbackAddress(address)) return address;
  const { token, readOnlyToken, basic } = login;
  if (token === null && readOnlyToken === null && basic === null) {
    throw new WfError(
      'usage',
      `will not listen on "${host}" without a login: every client that reaches it could run commands`,
      {
        help: 'set WF_TOKEN, or WF_USERNAME and WF_PASSWORD, or --require-login; or listen on 127.0.0.1',
      },
    );
  }
  requireLength('token', token, host);
  requireLength('readOnlyToken', readOnlyToken, host);
  requireLength('password', basic?.password ?? null, host);
  return address;
}

/** Wrong logins never delay a valid one, so only length prevents guessing. */
function requireLength(key: string, token: string | null, host: string): void {
  if (token === null || [...token].length >= MIN_LOGIN_LENGTH) return;
  const problem = `will not listen on "${host}" with a "${key}" of fewer than ${MIN_LOGIN_LENGTH} characters`;
  throw new WfError('usage', `${problem}: it could be guessed`, { help: 'make one with: openssl rand -hex 32' });
}

/** Whether only this machine can reach an address. */
export function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127(\.\d+){3}$/.test(address);
}

async function resolveHost(host: string): Promise<string> {
  try {
    return (await lookup(host)).address;
  } catch (error) {
    const why = messageOf(error);
    throw new WfError('usage', `"${host}" is not an address of this machine: ${why}`, { help: 'give one with --host' });
  }
}
