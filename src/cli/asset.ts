import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Where the files lie that the program hands out as they are, named by their paths below `assets/`. The build puts them
 * beside the program, so that no run has to read them as a part of it.
 */
const assets = join(import.meta.dirname, 'assets');

/** The text of a file below `assets/`. */
export function readAsset(name: string): string {
  return readFileSync(join(assets, name), 'utf8');
}
