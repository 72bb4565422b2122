import type { JSX } from 'preact';
import type { Diagnostic } from '#run-view/api/types.ts';
import { counted } from '#run-view/step-text.ts';
import { advice } from '../api/problem.ts';

type ProblemListProps = {
  readonly problems: readonly Diagnostic[];
  /** Called for a problem with a position in the text. */
  readonly onChoose: (problem: Diagnostic) => void;
};

/** The problems of a text; each links to its position. */
export function ProblemList({ problems, onChoose }: ProblemListProps): JSX.Element {
  return (
    <section class="problems" aria-label="Problems">
      <p class="quiet" role="status">
        {summary(problems)}
      </p>
      {problems.length > 0 && (
        <ul>
          {problems.map((problem, index) => (
            <li key={index}>
              <button
                type="button"
                class="plain"
                disabled={problem.line === null || problem.file !== '-'}
                onClick={() => onChoose(problem)}
              >
                <strong class={problem.severity}>{problem.severity}</strong>
                <span>
                  {problem.message}
                  {advice(problem) !== '' && <span class="quiet"> {advice(problem)}</span>}
                </span>
                <span class="quiet">{place(problem)}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function summary(problems: readonly Diagnostic[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const warnings = problems.length - errors;
  const parts = [
    ...(errors === 0 ? [] : [counted(errors, 'error')]),
    ...(warnings === 0 ? [] : [counted(warnings, 'warning')]),
  ];
  return parts.length === 0 ? 'No problems' : parts.join(', ');
}

function place({ file, line, column }: Diagnostic): string {
  if (line === null) return '';
  const name = file === null || file === '-' ? 'line ' : `${file.slice(file.lastIndexOf('/') + 1)}:`;
  return `${name}${line}${column === null ? '' : `:${column}`}`;
}
