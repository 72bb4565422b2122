import { type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { WfError } from '#system/errors.ts';
import { whyUntrusted } from '#system/untrusted.ts';
import type { Places } from './places.ts';

/** A path that is not used, the reason, and what to do. */
export type UntrustedPath = { readonly path: string; readonly why: string; readonly help: string };

/**
 * Finds untrusted directories of the user, and untrusted files there that determine what runs: a user who can change them
 * can run commands as this user.
 */
export function untrustedPaths({ configDir, stateDir }: Places, env: NodeJS.ProcessEnv): readonly UntrustedPath[] {
  const files = configDir === null ? [] : ['config.yaml', 'base.yaml'].map((name) => join(configDir, name));
  const paths = [configDir, stateDir, ...files].filter((path) => path !== null);
  return [...new Set(paths)].flatMap((path) => {
    const stat = statIfThere(path);
    const why = stat === null ? null : whyUntrusted(stat, env);
    if (why === null) return [];
    const mend = why.startsWith('it belongs') ? 'change its owner' : `chmod o-w "${path}"`;
    return [{ path, why, help: `${mend}, or set WF_HOME to a directory of your own` }];
  });
}

/** Throws a `WfError` `usage` for the first of the user's directories that cannot be trusted. */
export function requireTrusted(places: Places, env: NodeJS.ProcessEnv): void {
  const [first] = untrustedPaths(places, env);
  if (first !== undefined)
    throw new WfError('usage', `will not use "${first.path}": ${first.why}`, { help: first.help });
}

/** A file that cannot be inspected is reported when it is read. */
function statIfThere(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}
