import { messageOf, WfError } from '#system/errors.ts';
import { readNamedFile } from './named-file.ts';
import type { ReadSetting, Sourced } from './resolve.ts';
import type { SettingKey } from './settings.ts';

/** A user name and its password, in plain text. */
export type BasicLogin = { readonly username: string; readonly password: string };

/**
 * A secret from a setting, or from the file that another setting names; the one closer to the command line takes
 * precedence. Null if neither is set. Throws a `WfError` `usage` for both at once, and for a file that cannot be read
 * or contains more than one line.
 */
export function secret(
  read: ReadSetting,
  key: 'token' | 'readOnlyToken' | 'password',
  fileKey: 'tokenFile' | 'readOnlyTokenFile' | 'passwordFile',
): string | null {
  const direct = read(key);
  const inFile = read(fileKey);
  const { value: file, level } = inFile;
  if (file === null) return direct.value;
  if (direct.value === null || nearness[inFile.level] > nearness[direct.level])
    return secretIn({ file, level }, fileKey);
  if (nearness[inFile.level] < nearness[direct.level]) return direct.value;
  throw new WfError('usage', `"${key}" (${direct.source}) and "${fileKey}" (${inFile.source}) exclude each other`);
}

const nearness = { flag: 4, variable: 3, project: 2, user: 1, default: 0 } as const;

function secretIn({ file, level }: { file: string; level: Sourced<string>['level'] }, key: SettingKey): string {
  let content: string;
  try {
    content = readNamedFile(file, level).trim();
  } catch (error) {
    const reason = messageOf(error);
    throw new WfError('usage', `cannot read the file that "${key}" names: ${reason}`);
  }
  if (content !== '' && !content.includes('\n')) return content;
  throw new WfError('usage', `"${file}", which "${key}" names, must hold one line that is not empty`);
}

/** The basic login; null if there is none. Throws a `WfError` `usage` if only one half of it is set. */
export function basicLogin(read: ReadSetting): BasicLogin | null {
  const { value: username } = read('username');
  const password = secret(read, 'password', 'passwordFile');
  if (username === null && password === null) return null;
  if (username === null) throw half('username', 'the basic login has a password but no user name');
  if (password === null) throw half('password', 'the basic login has a user name but no password');
  if (username.includes(':')) throw new WfError('usage', '"username" cannot contain a colon');
  return { username, password };
}

function half(key: SettingKey, problem: string): WfError {
  return new WfError('usage', problem, { help: `set "${key}", or remove the other setting` });
}
