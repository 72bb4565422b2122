import type { DiagnosticCode } from '../codes.ts';
import { diagnosticCodes } from '../codes.ts';
import { didYouMean, nearNames } from '../near-names.ts';
import { type Path, type Problem, problem } from '../problem.ts';
import { asList, type TextOrList } from '../raw.ts';
import { type SpecFile, spotIn, stepEntries } from '../read/spec-file.ts';

/** Problems to show, and the warnings that `x-ignore` silences. */
export type Silenced = { readonly shown: readonly Problem[]; readonly ignored: readonly Problem[] };

/** One `x-ignore`: its codes, and the part of the file that it is for. */
type Wish = { readonly file: SpecFile; readonly path: Path; readonly codes: readonly string[] };

/** Takes out the warnings whose codes the files, or the steps that have them, list under `x-ignore`. */
export function silence(files: readonly SpecFile[], problems: readonly Problem[]): Silenced {
  const wishes = files.flatMap(wishesOf);
  if (wishes.length === 0) return { shown: problems, ignored: [] };
  const isIgnored = (found: Problem) => found.severity === 'warning' && wishes.some((wish) => covers(wish, found));
  return {
    shown: [...problems.filter((found) => !isIgnored(found)), ...wishes.flatMap(unknownCodes)],
    ignored: problems.filter(isIgnored),
  };
}

function wishesOf(file: SpecFile): Wish[] {
  const wish = (path: Path, value: TextOrList | undefined) =>
    value === undefined ? [] : [{ file, path, codes: asList(value) }];
  const steps = stepEntries(file).flatMap(({ path, raw }) => wish(path, raw['x-ignore']));
  return [...wish([], file.raw['x-ignore']), ...steps];
}

function covers({ file, path, codes }: Wish, { spot, code }: Problem): boolean {
  if (spot.source !== file.source || !codes.includes(code)) return false;
  return path.length === 0 || ('path' in spot && path.every((part, at) => spot.path[at] === part));
}

function unknownCodes({ file, path, codes }: Wish): Problem[] {
  const unknown = codes.filter((code) => !diagnosticCodes.includes(code as DiagnosticCode));
  return unknown.map((code) => {
    const label = () => didYouMean(nearNames(code, diagnosticCodes));
    const help = 'wf validate --json shows the code of each warning.';
    const spot = spotIn(file, [...path, 'x-ignore']);
    return problem('wrong-value', spot, `"${code}" is not the code of a warning`, { severity: 'warning', label, help });
  });
}
