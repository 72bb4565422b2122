import { posix } from 'node:path';
import { type Path, type Problem, problem } from '../diagnostic.ts';
import { entriesAt, executorType, type RawArtifact } from '../raw.ts';
import { type ActionEntry, spotIn } from '../read/spec-file.ts';

/** Keys of steps without an attempt that has an end and a directory on this machine. */
const OTHERS = ['service', 'approval', 'container'] as const;

/** Checks `artifacts` of a step or handler. */
export function artifactProblems(entry: ActionEntry): Problem[] {
  const { file, path, raw, what } = entry;
  if (raw.artifacts === undefined) return [];
  const spot = spotIn(file, [...path, 'artifacts'], 'key');
  const other = OTHERS.find((key) => raw[key] !== undefined && raw[key] !== false);
  if (other !== undefined) {
    const related = [{ spot: spotIn(file, [...path, other], 'key'), message: `"${other}" is given here` }];
    const help = 'Let another step keep the files, one with a command of this machine.';
    return [problem('conflicting-keys', spot, `${what} has both "${other}" and "artifacts"`, { related, help })];
  }
  const isInside = file.raw.container !== undefined && raw.executor === undefined && raw.run === undefined;
  if (isInside || executorType(raw) === 'docker') {
    const help = 'Mount a directory of this machine, and let a step with a command keep its files.';
    return [problem('not-supported', spot, `${what}: "artifacts" of a step in a container are not kept`, { help })];
  }
  return entriesAt<RawArtifact>(raw.artifacts, [...path, 'artifacts']).flatMap(({ path: at, entry: written }) =>
    ruleProblems(entry, at, written),
  );
}

function ruleProblems({ file, what }: ActionEntry, at: Path, written: RawArtifact): Problem[] {
  const isText = typeof written === 'string';
  const { path, name, when, required } = isText ? { path: written } : written;
  const wrong = (key: string, message: string, help: string) =>
    problem('wrong-value', spotIn(file, isText ? at : [...at, key]), `${what}: ${message}`, { help });
  const problems: Problem[] = [];
  if (path !== undefined && path.trim() === '') {
    problems.push(wrong('path', 'a pattern of "artifacts" is empty', 'For example dist/**'));
  } else if (path !== undefined && leavesDirectory(path)) {
    const help = 'A pattern is relative to "dir" of the step. A program can put other files into $WF_ARTIFACTS_DIR.';
    problems.push(wrong('path', `"${path}" is not below the directory of the step`, help));
  }
  if (name !== undefined && !isFolderName(name)) {
    const help = 'A name is one folder, such as reports: at most 255 bytes, without "/", and not "." or "..".';
    problems.push(wrong('name', `${JSON.stringify(name)} is not the name of a folder`, help));
  }
  if (required === true && when === 'failure') {
    const help = 'An attempt that has failed cannot fail again. Remove "required", or write "when: always".';
    problems.push(wrong('required', '"required" has no effect with "when: failure"', help));
  }
  return problems;
}

/** A pattern with variables is checked again after each attempt. */
function leavesDirectory(path: string): boolean {
  return /^[/~]/.test(path) || posix.normalize(path).split('/')[0] === '..';
}

function isFolderName(name: string): boolean {
  return /^(?!\.\.?$)[^/\p{Cc}]+$/u.test(name) && Buffer.byteLength(name) <= 255;
}
