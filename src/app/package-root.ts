import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The root of the package. The bundles lie one level below it, the sources two. */
export const packageRoot = join(import.meta.dirname, /[\\/]src[\\/]app$/.test(import.meta.dirname) ? '../..' : '..');

/** The version of this program. */
export function ownRelease(): string {
  const { version }: { version: string } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
  return version;
}
