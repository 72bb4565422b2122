import { isItemVariable } from '#core/fan-out/items.ts';
import { labelNameProblem, labelValueProblem, MAX_LABELS } from '#core/selectors.ts';
import { namesIn } from '#core/words/interpolate.ts';
import { type Path, type Problem, type ProblemOptions, problem } from '../diagnostic.ts';
import { envNames, type RawSelector } from '../raw.ts';
import { type ActionEntry, type SpecFile, spotIn } from '../read/spec-file.ts';

/** The value for any worker, of files that were written for other programs. */
const LOCAL = 'local';
const EXAMPLE = 'For example: {gpu: "true"}.';

/** Checks `workerSelector` of a step or handler. */
export function stepSelectorProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  const own = new Set(envNames([raw.env]));
  const isLate = (name: string) => own.has(name) || isItemVariable(name);
  return selectorProblems(file, { selector: raw.workerSelector, path, what, isLate });
}

/** Checks `workerSelector` of the workflow. */
export function runSelectorProblems(file: SpecFile): Problem[] {
  const { workerSelector: selector } = file.raw;
  return selectorProblems(file, { selector, path: [], what: 'the workflow', isLate: isItemVariable });
}

type Written = {
  readonly selector: RawSelector | undefined;
  readonly path: Path;
  readonly what: string;
  /** Whether a variable is not set yet when the run starts. */
  readonly isLate: (name: string) => boolean;
};

function selectorProblems(file: SpecFile, { selector, path, what, isLate }: Written): Problem[] {
  if (selector === undefined || selector === LOCAL) return [];
  const at = [...path, 'workerSelector'];
  const wrong = (spot: Path, message: string, { part, ...options }: ProblemOptions & { part?: 'key' } = {}) =>
    problem('wrong-value', spotIn(file, spot, part), `${what}: ${message}`, { help: EXAMPLE, ...options });
  if (typeof selector === 'string') return [wrong(at, `"workerSelector" is a map of labels, or "${LOCAL}"`)];
  const entries = Object.entries(selector);
  if (entries.length > MAX_LABELS) return [wrong(at, `${entries.length} labels are more than ${MAX_LABELS}`)];
  return entries.flatMap(([name, value]) => {
    const unnamed = labelNameProblem(name);
    if (unnamed !== null) return [wrong([...at, name], unnamed, { part: 'key' })];
    const late = [...namesIn(value)].find(isLate);
    if (late !== undefined) {
      const help = 'The worker is chosen first. Set the variable in the "env" of the workflow, or in "params".';
      return [wrong([...at, name], `the label "${name}" cannot use "${late}", which a run sets later`, { help })];
    }
    const invalid = value.includes('$') ? null : labelValueProblem(name, value);
    return invalid === null ? [] : [wrong([...at, name], invalid)];
  });
}
