import type { ComponentChildren, JSX } from 'preact';
import type { ApiProblem } from '../api/problem.ts';
import { Diagnostics } from './workflow/diagnostics.tsx';

type ProblemProps = {
  readonly problem: ApiProblem;
  /** The subject of a screen that consists of the problem only: `Run`. */
  readonly what?: string;
  readonly retry?: (() => void) | undefined;
  /** The address of a name that the advice suggests. */
  readonly hrefOf?: ((name: string) => string) | undefined;
};

/** A problem with its advice, and a button that repeats the request. */
export function ProblemBox({ problem, what, retry, hrefOf }: ProblemProps): JSX.Element {
  return (
    <div class="problem" role="alert">
      {what && <h1>{problem.status === 404 ? `${what} not found` : what}</h1>}
      <p>
        <strong>{sentence(problem.message)}</strong>
      </p>
      {problem.diagnostics.length > 0 ? (
        <Diagnostics diagnostics={problem.diagnostics} />
      ) : (
        problem.help && (
          <p>{hrefOf && problem.status === 404 ? linked(sentence(problem.help), hrefOf) : sentence(problem.help)}</p>
        )
      )}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** `Did you mean "etl"?` with its names as links. */
function linked(text: string, hrefOf: (name: string) => string): ComponentChildren {
  const parts = text.split(/"([^"]+)"/);
  return parts.map((part, index) => (index % 2 === 0 ? part : <a href={hrefOf(part)}>{part}</a>));
}

/** The names of the program, of runs and of workflows stay as they are typed. */
function sentence(text: string): string {
  const isWord = /^[a-z']+([ ,.]|$)/.test(text) && !text.startsWith('wf ');
  const start = isWord ? text.charAt(0).toUpperCase() : text.charAt(0);
  return `${start}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
}
