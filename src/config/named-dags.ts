import { opendirSync } from 'node:fs';
import { WfError } from '#system/errors.ts';
import type { Config } from './config.ts';

const reasons: { readonly [code: string]: string } = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is not a directory',
};

/**
 * Requires a workflows directory named by this command to exist; the default directory may be missing. Throws a
 * `WfError` `not-found`.
 */
export function requireNamedDags({ settings }: Pick<Config, 'settings'>): void {
  const { value, level, source } = settings.read('dags');
  if (value === null || (level !== 'flag' && level !== 'variable')) return;
  try {
    opendirSync(value).closeSync();
  } catch (error) {
    const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''] ?? 'cannot be read';
    throw new WfError('not-found', `the workflows directory "${value}" ${reason}`, {
      help: `${source} names it; without ${source}, the default is used`,
    });
  }
}
