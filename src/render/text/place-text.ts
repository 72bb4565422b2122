import { isAbsolute, relative, sep } from 'node:path';
import type { Place } from '../../language/diagnostic.ts';
import { escapeControls } from './sanitize.ts';

/** A file as the user calls it: relative when it lies under `cwd` (null: never), `<stdin>` for `-`. */
export function fileText(file: string, cwd: string | null): string {
  if (file === '-') return '<stdin>';
  if (cwd === null) return escapeControls(file);
  const path = relative(cwd, file);
  const isOutside = path === '' || path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
  return escapeControls(isOutside ? file : path);
}

/** A place as editors and terminals understand it: `etl.yaml:14:5`. */
export function placeText(place: Place, cwd: string | null): string {
  return `${fileText(place.file, cwd)}:${place.start.line}:${place.start.column}`;
}
