import type { JSX } from 'preact';
import type { ApiProblem } from '../api/problem.ts';
import { Diagnostics } from './workflow/diagnostics.tsx';

/** A problem with its advice, and a button that repeats the request. */
export function ProblemBox({ problem, retry }: { problem: ApiProblem; retry?: (() => void) | undefined }): JSX.Element {
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{sentence(problem.message)}</strong>
      </p>
      {problem.diagnostics.length > 0 ? (
        <Diagnostics diagnostics={problem.diagnostics} />
      ) : (
        problem.help && <p>{sentence(problem.help)}</p>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** The name of the program stays as it is typed. */
function sentence(text: string): string {
  const start = text.startsWith('wf ') ? 'w' : text.charAt(0).toUpperCase();
  return `${start}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}
