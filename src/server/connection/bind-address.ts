import { lookup } from 'node:dns/promises';
import type { ServerSettings } from '../../config/server-settings.ts';
import { WfError } from '../../errors.ts';

/**
 * The address that a host means, to listen at. Throws a `WfError` `usage` for one that others can reach when no login is
 * asked for. What was checked is what is listened at: a name is looked up once.
 */
export async function bindAddress(host: string, login: ServerSettings['login']): Promise<string> {
  const address = await resolveHost(host.replace(/^\[(.*)\]$/, '$1'));
  const hasLogin = login.token !== null || login.readOnlyToken !== null || login.basic !== null;
  if (hasLogin || isLoopback(address)) return address;
  throw new WfError('usage', `will not listen on "${host}" without a login: whoever reaches it could run commands`, {
    help: 'set WF_TOKEN, or WF_USERNAME and WF_PASSWORD; or listen on 127.0.0.1',
  });
}

/** Whether only this machine reaches an address. */
export function isLoopback(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127(\.\d+){3}$/.test(address);
}

async function resolveHost(host: string): Promise<string> {
  try {
    return (await lookup(host)).address;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new WfError('usage', `"${host}" is no address of this machine: ${why}`, { help: 'give one with --host' });
  }
}
