import { scanShell } from '#core/words/shell-scan.ts';
import { type Problem, problem } from '../problem.ts';
import { asList, executorType } from '../raw.ts';
import { type SpecFile, spotIn } from '../read/spec-file.ts';
import { type ActionEntry, actionEntries } from './step/action-entries.ts';

/** Warns of JSON paths in the scripts of shells. */
export function scriptPathProblems(files: readonly SpecFile[]): Problem[] {
  return files.flatMap(actionEntries).flatMap(scriptPaths);
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
