import type { JSX } from 'preact';
import type { Diagnostic } from '#run-view/api/types.ts';
import { advice } from '../../api/problem.ts';

/** Problems of workflow files, each followed by its source line if the text of the file is given. */
export function Diagnostics(props: {
  diagnostics: readonly Diagnostic[];
  text?: string | null | undefined;
}): JSX.Element {
  return (
    <ul class="diagnostics">
      {props.diagnostics.map((diagnostic, index) => (
        <li key={index}>
          <p>
            <strong class={diagnostic.severity}>{diagnostic.severity}</strong> {diagnostic.message}
            {diagnostic.line === null ? null : <span class="quiet"> {place(diagnostic)}</span>}
          </p>
          <Frame diagnostic={diagnostic} text={props.text} />
          {advice(diagnostic) !== '' && <p class="quiet">{advice(diagnostic)}</p>}
        </li>
      ))}
    </ul>
  );
}

function place({ file, line, column }: Diagnostic): string {
  const name = file === null || file === '-' ? 'line ' : `${file.slice(file.lastIndexOf('/') + 1)}:`;
  return `${name}${line}${column === null ? '' : `:${column}`}`;
}

/** The line of a problem and the one before, with the position underlined. */
function Frame(props: { diagnostic: Diagnostic; text: string | null | undefined }): JSX.Element | null {
  const { line, column, endLine, endColumn } = props.diagnostic;
  if (!props.text || line === null) return null;
  const lines = props.text.split('\n');
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

function FrameLine(props: { number: number; children: preact.ComponentChildren }): JSX.Element {
  return (
    <span class="frame-line">
      <span class="line-number">{props.number}</span>
      {props.children}
      {'\n'}
    </span>
  );
}
