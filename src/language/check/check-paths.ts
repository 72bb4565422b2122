import { scanShell } from '../../core/words/shell-scan.ts';
import { assignments } from '../build/assignments.ts';
import { parseParamDefaults } from '../params.ts';
import { type Path, type Problem, problem } from '../problem.ts';
import { asList, executorType } from '../raw.ts';
import { type SpecFile, type StepEntry, spotIn } from '../read/spec-file.ts';
import { type ActionEntry, actionEntries } from './action-entries.ts';

/** References of newer programs of this family to the result of another step. */
const STEP_REFERENCE = /\$\{([A-Za-z_][\w-]*)\.(?:stdout|stderr|exitCode|exit_code|status|output(?:\.[\w-]+)*)\}/g;

/** Reports paths that would not have the intended meaning: results of steps by id, and JSON paths in a script. */
export function pathProblems(files: readonly SpecFile[], steps: readonly StepEntry[]): Problem[] {
  const ids = new Set(steps.flatMap(({ raw, name }) => [raw.id, name]).filter((id) => typeof id === 'string'));
  const variables = variableNames(files, steps);
  return files.flatMap(actionEntries).flatMap((entry) => {
    const references = texts(entry.raw, entry.path).flatMap(([path, text]) =>
      [...text.matchAll(STEP_REFERENCE)].flatMap(([reference, id = '']) =>
        ids.has(id) && !variables.has(id) ? [stepReference(entry, path, { reference, id })] : [],
      ),
    );
    return [...references, ...scriptPaths(entry)];
  });
}

function variableNames(files: readonly SpecFile[], steps: readonly StepEntry[]): ReadonlySet<string> {
  const envs = [...files.map(({ raw }) => raw.env), ...steps.map(({ raw }) => raw.env)];
  const params = files.flatMap(({ raw }) => parseParamDefaults(raw.params).map(({ name }) => name));
  const outputs = steps.flatMap(({ raw }) => raw.output?.replace(/^\$?\{?|\}$/g, '') ?? []);
  const names = [...envs.flatMap(assignments).map(({ name }) => name), ...params, ...outputs];
  return new Set(names.filter((name) => name !== null));
}

/** Every text within a value, with its path. */
function texts(value: unknown, path: Path): [path: Path, text: string][] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value !== 'object' || value === null) return [];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, item]) => texts(item, [...path, isList ? Number(key) : key]));
}

function stepReference({ file }: ActionEntry, path: Path, found: { reference: string; id: string }): Problem {
  const message = `"${found.reference}": a reference to the result of step "${found.id}" is not supported yet`;
  return problem('not-supported', spotIn(file, path), message, {
    help: 'Give that step "output: NAME", and write $NAME here.',
  });
}

/** A script is passed to its interpreter unchanged, and no shell supports these paths. */
function scriptPaths({ file, path, raw }: ActionEntry): Problem[] {
  if (raw.script === undefined || !isForShell(raw)) return [];
  const [first] = scanShell(raw.script).paths.filter((found) => found.path.startsWith('.'));
  if (first === undefined) return [];
  const reference = `\${${first.name}${first.path}}`;
  return [
    problem('unreplaced-path', spotIn(file, [...path, 'script']), `"${reference}" in a script is not replaced`, {
      severity: 'warning',
      help: `Give it a variable of the step: env: [{VALUE: "${reference}"}].`,
    }),
  ];
}

function isForShell(raw: ActionEntry['raw']): boolean {
  const { script = '', command } = raw;
  if (!['command', 'docker', 'ssh'].includes(executorType(raw))) return false;
  const [first = ''] = asList(command);
  const interpreter = command === undefined ? (/^#![^\n]*/.exec(script)?.[0] ?? 'sh') : first;
  return /(?:^|[/ ])(?:a|ba|da|k|mk|z)?sh(?: |$)/.test(interpreter);
}
