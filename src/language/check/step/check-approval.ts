import { inputName, inputsOf } from '../../build/approval.ts';
import { STEERING_NAME, VARIABLE_NAME } from '../../build/assignments.ts';
import { declaredRule, evaluatedTexts, isDeclaration } from '../../declared-params.ts';
import { didYouMean, nearNames } from '../../near-names.ts';
import { type Problem, problem } from '../../problem.ts';
import { asList, type OpenTextMap } from '../../raw.ts';
import { spotIn } from '../../read/spec-file.ts';
import { type DeclarationEntry, declarationProblems } from '../check-params.ts';
import type { ActionEntry } from './action-entries.ts';

/** Checks the inputs of an approval. */
export function approvalProblems(entry: ActionEntry): Problem[] {
  const { approval } = entry.raw;
  if (approval === true) return placeProblems(entry);
  if (typeof approval !== 'object') return [];
  return [...placeProblems(entry), ...inputProblems(entry), ...requiredProblems(entry)];
}

/** Keys of steps that run several times or stay up, which have no single end to ask at. */
function placeProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  const other = ['parallel', 'matrix', 'service'].find((key) => key in raw);
  if (other === undefined) return [];
  return [
    problem(
      'conflicting-keys',
      spotIn(file, [...path, 'approval'], 'key'),
      `${what} has both "${other}" and "approval"`,
      {
        related: [{ spot: spotIn(file, [...path, other], 'key'), message: `"${other}" is given here` }],
        help: 'Use a separate step for the approval, and let one of the two depend on the other.',
      },
    ),
  ];
}

function inputProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  const { approval } = raw;
  const isList = typeof approval === 'object' && Array.isArray(approval.input);
  const names = new Set<string>();
  return inputsOf(approval).flatMap((input, index) => {
    const place = [...path, 'approval', 'input', ...(isList ? [index] : [])];
    const name = inputName(input);
    const isTaken = names.has(name);
    names.add(name);
    if (!VARIABLE_NAME.test(name)) {
      const help = 'A name has only letters, digits and "_", and does not start with a digit.';
      return [problem('invalid-name', spotIn(file, place), `"${name}" is not the name of an input`, { help })];
    }
    if (STEERING_NAME.test(name)) {
      const message = `the input "${name}" would change how later programs run`;
      return [problem('reserved-name', spotIn(file, place), message, { help: 'Choose another name.' })];
    }
    if (isTaken) return [problem('wrong-value', spotIn(file, place), `two inputs of ${what} are named "${name}"`)];
    return typeof input === 'string' ? [] : inputFaults({ file, path: place, what: `input "${name}"`, entry: input });
  });
}

function inputFaults(declaration: DeclarationEntry): Problem[] {
  const { file, path, what, entry } = declaration;
  const [evaluated] = evaluatedTexts(entry);
  if (evaluated === undefined) return isDeclaration(entry) ? declarationProblems(declaration) : [];
  const message = `${what}: "eval" is for parameters; write "default"`;
  return [problem('wrong-value', spotIn(file, [...path, evaluated[0]]), message)];
}

/** `required` names inputs; without a person to ask, each of them needs a default. */
function requiredProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  const approval = typeof raw.approval === 'object' ? raw.approval : {};
  const inputs = inputsOf(approval);
  const names = inputs.map(inputName);
  const unknown = asList(approval.required).flatMap((name, index) => {
    if (names.includes(name)) return [];
    const place = [...path, 'approval', 'required', ...(Array.isArray(approval.required) ? [index] : [])];
    const label = didYouMean(nearNames(name, names));
    return [problem('wrong-value', spotIn(file, place), `"${name}" is not an input of ${what}`, { label })];
  });
  if (unknown.length > 0 || approval.onTimeout !== 'approve') return unknown;
  const open = inputs.find((input) => isOpen(input, asList(approval.required)));
  if (open === undefined) return [];
  const message = `${what} is approved without the input "${inputName(open)}", which is required`;
  const help = `Give "${inputName(open)}" a "default", or write "onTimeout: reject".`;
  return [problem('conflicting-keys', spotIn(file, [...path, 'approval', 'onTimeout']), message, { help })];
}

function isOpen(input: string | OpenTextMap, required: readonly string[]): boolean {
  const { value, rule } =
    typeof input === 'string' ? { value: '', rule: { required: undefined } } : declaredRule(input);
  return value === '' && (rule.required === true || required.includes(inputName(input)));
}
