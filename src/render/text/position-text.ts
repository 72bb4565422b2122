import { isAbsolute, relative, sep } from 'node:path';
import type { Position } from '#language/diagnostic.ts';
import { escapeControls } from './sanitize.ts';

/** Returns the name of a file for display: relative if it is under `cwd` (null: never), `<stdin>` for `-`. */
export function fileText(file: string, cwd: string | null): string {
  if (file === '-') return '<stdin>';
  if (cwd === null) return escapeControls(file);
  const path = relative(cwd, file);
  const isOutside = path === '' || path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path);
  return escapeControls(isOutside ? file : path);
}

/** Formats a position that editors and terminals understand: `etl.yaml:14:5`. */
export function positionText(position: Pick<Position, 'file' | 'start'>, cwd: string | null): string {
  return `${fileText(position.file, cwd)}:${position.start.line}:${position.start.column}`;
}
