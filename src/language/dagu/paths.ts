import type { Path } from '../problem.ts';

/**
 * The keys of Dagu 2 from which `readDaguKeys` makes the documented ones. They have positions in the file, which those
 * have not.
 */
const sources: readonly { readonly made: Path; readonly written: string }[] = [
  { made: ['executor', 'config'], written: 'with' },
  { made: ['executor'], written: 'type' },
  { made: ['run'], written: 'call' },
];

/** The path in the file of a value that `readDaguKeys` made; any other path as it is. */
export function pathOfDagu(path: Path, isWritten: (path: Path) => boolean): Path {
  const [top, , key] = path;
  const depth = 2;
  if (top === 'secrets' && (key === 'env' || key === 'file') && !isWritten(path))
    return [...path.slice(0, depth), 'key'];
  if ((top !== 'steps' && top !== 'handlerOn') || key === undefined || isWritten(path.slice(0, depth + 1))) return path;
  const source = sources.find(({ made }) => made.every((part, at) => path[depth + at] === part));
  if (source === undefined) return path;
  return [...path.slice(0, depth), source.written, ...path.slice(depth + source.made.length)];
}
