import { IGNORED, type Problem, problem } from '../diagnostic.ts';
import { type SpecFile, spotIn } from '../read/spec-file.ts';

/** Keys that a daemon reads, which starts only the first workflow of a file. */
const OF_DAEMON = ['schedule', 'queue', 'maxConcurrent', 'retryPolicy'] as const;

/** The problems of each document after the first, all of which are run by their names. */
export function documentProblems(files: readonly SpecFile[]): readonly (readonly Problem[])[] {
  const named = new Map<string, SpecFile>();
  return files.flatMap((file, index) => {
    const { name } = file.raw;
    const first = name === undefined ? undefined : named.get(name);
    if (name !== undefined && first === undefined) named.set(name, file);
    if (index === 0) return [];
    return [[...nameProblems(file, index, first), ...unusedKeys(file)]];
  });
}

function nameProblems(file: SpecFile, index: number, first: SpecFile | undefined): Problem[] {
  const { name } = file.raw;
  if (first !== undefined) {
    const message = `two documents of the file are named "${name}"`;
    const related = [{ spot: spotIn(first, ['name']), message: `"${name}" is defined here first` }];
    return [problem('several-documents', spotIn(file, ['name']), message, { label: 'the second', related })];
  }
  if (name !== undefined || !file.isReadable || file.lost.has('name')) return [];
  const start = file.document?.start ?? 0;
  const message = `document ${index + 1} of the file has no "name"`;
  const help = 'Steps run it by its name: "name: child" at its top, and "run: child" in a step.';
  return [problem('several-documents', { source: file.source, range: [start, start + 3] }, message, { help })];
}

function unusedKeys(file: SpecFile): Problem[] {
  return OF_DAEMON.flatMap((key) => {
    if (file.raw[key] === undefined) return [];
    const message = `"${key}" has no effect in a document after the first, which only steps run`;
    return [problem('ignored-key', spotIn(file, [key], 'key'), message, IGNORED)];
  });
}
