import type { ComponentChildren, JSX } from 'preact';
import type { ApiProblem } from '../api/problem.ts';
import { Diagnostics } from './workflow/diagnostics.tsx';

type ProblemProps = {
  readonly problem: ApiProblem;
  /** The subject of a screen that consists of the problem only: `Run`. */
  readonly what?: string;
  readonly retry?: (() => void) | undefined;
  /** Where to look for what is not found. */
  readonly elsewhere?: Elsewhere;
};

/** Links of a screen whose subject is not found. */
type Elsewhere = {
  /** The address of a name that the advice suggests. */
  readonly hrefOf: (name: string) => string;
  /** The link to the list of all. */
  readonly list: JSX.Element;
};

/** A problem with its advice, and a button that repeats the request. */
export function ProblemBox({ problem, what, retry, elsewhere }: ProblemProps): JSX.Element {
  const { status, message, help, diagnostics } = problem;
  const isMissing = status === 404;
  return (
    <div class="problem" role="alert">
      {what && <h1>{isMissing ? `${what} not found` : what}</h1>}
      <p>
        <strong>{sentence(message)}</strong>
      </p>
      {diagnostics.length > 0 && <Diagnostics diagnostics={diagnostics} />}
      {elsewhere && isMissing ? (
        <Advice help={help} elsewhere={elsewhere} />
      ) : (
        help && diagnostics.length === 0 && <p>{sentence(help)}</p>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** The suggested names, and the list instead of its command or request. */
function Advice({ help, elsewhere: { hrefOf, list } }: { help: string | null; elsewhere: Elsewhere }): JSX.Element {
  const isForUsers = help !== null && !/\/api\/|\bwf /.test(help);
  return (
    <>
      {isForUsers && <p>{linked(sentence(help), hrefOf)}</p>}
      <p>{list}</p>
    </>
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
