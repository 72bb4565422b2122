import type { ComponentChildren, JSX } from 'preact';
import type { Diagnostic } from '#run-view/api/types.ts';
import { type ApiProblem, advice } from '../api/client.ts';
import { Button } from './controls.tsx';
import { Loading } from './screen.tsx';

type ProblemProps = {
  readonly problem: ApiProblem;
  /** The subject of a screen that consists of the problem only: `Run`. */
  readonly what?: string;
  readonly retry?: (() => void) | undefined;
  readonly elsewhere?: Elsewhere;
};

/** Links of a screen whose subject is not found. */
type Elsewhere = {
  /** The address of a name that the advice suggests. */
  readonly hrefOf: (name: string) => string;
  readonly list: JSX.Element;
};

/** A problem with its advice, and a button that repeats the request. */
export function ProblemBox({ problem, what, retry, elsewhere }: ProblemProps) {
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
      {retry && <Button text="Try again" onClick={retry} />}
    </div>
  );
}

type UnknownProps = Omit<ProblemProps, 'problem'> & { readonly problem: ApiProblem | null };

/** Shown instead of a value that is not known: placeholders while it is read, else the problem. */
export function LoadingOrProblem({ problem, ...props }: UnknownProps) {
  return problem === null ? <Loading /> : <ProblemBox problem={problem} {...props} />;
}

/** The problem of a request, beside its control. */
export function ActionProblem({ problem }: { problem: ApiProblem | null }) {
  if (problem === null) return null;
  return (
    <p class="action-problem" role="alert">
      {problem.message}
      {problem.help && `. ${problem.help}`}
    </p>
  );
}

/** The suggested names, and the list instead of its command or request. */
function Advice({ help, elsewhere: { hrefOf, list } }: { help: string | null; elsewhere: Elsewhere }) {
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

/** Problems of workflow files, each followed by its source line if the text of the file is given. */
export function Diagnostics({ diagnostics, text }: { diagnostics: readonly Diagnostic[]; text?: string | null }) {
  return (
    <ul class="diagnostics">
      {diagnostics.map((diagnostic, index) => (
        <li key={index}>
          <p>
            <strong class={diagnostic.severity}>{diagnostic.severity}</strong> {diagnostic.message}
            {diagnostic.line === null ? null : <span class="quiet"> {positionText(diagnostic)}</span>}
          </p>
          <Frame diagnostic={diagnostic} text={text} />
          {advice(diagnostic) !== '' && <p class="quiet">{advice(diagnostic)}</p>}
        </li>
      ))}
    </ul>
  );
}

/** `line 3:5`, or `parts.yaml:3:5` in another file; empty without a position. */
export function positionText({ file, line, column }: Diagnostic): string {
  if (line === null) return '';
  const name = file === null || file === '-' ? 'line ' : `${file.slice(file.lastIndexOf('/') + 1)}:`;
  return `${name}${line}${column === null ? '' : `:${column}`}`;
}

/** The line of a problem and the one before, with the position underlined. */
function Frame({ diagnostic, text }: { diagnostic: Diagnostic; text: string | null | undefined }) {
  const { line, column, endLine, endColumn } = diagnostic;
  if (!text || line === null) return null;
  const lines = text.split('\n');
  const meant = lines[line - 1] ?? '';
  const from = (column ?? 1) - 1;
  const to = endLine === line && endColumn !== null ? endColumn - 1 : meant.length;
  return (
    <pre class="frame" tabIndex={0}>
      {line > 1 && <FrameLine number={line - 1}>{lines[line - 2]}</FrameLine>}
      <FrameLine number={line}>
        {meant.slice(0, from)}
        <mark>{meant.slice(from, Math.max(to, from + 1))}</mark>
        {meant.slice(Math.max(to, from + 1))}
      </FrameLine>
    </pre>
  );
}

function FrameLine({ number, children }: { number: number; children: ComponentChildren }) {
  return (
    <span class="frame-line">
      <span class="line-number">{number}</span>
      {children}
      {'\n'}
    </span>
  );
}
