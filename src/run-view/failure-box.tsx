import type { ComponentChildren } from 'preact';
import { failurePath, failureReason, shortId } from '#render/text.ts';
import { type AnsiSpan, createAnsiSpans, Spans } from './ansi-spans.tsx';
import type { RunFailure, RunView } from './api/types.ts';
import { presentLook, StatusIcon } from './status.tsx';
import { MAX_TEXT, shortened } from './texts.ts';

type FailuresProps = {
  readonly view: Pick<RunView, 'failures' | 'moreFailures'>;
  /** The address of a failed step; null: it has none. */
  readonly hrefOf: (failure: RunFailure) => string | null;
  readonly positionOf: (failure: RunFailure) => ComponentChildren;
  readonly below?: (failure: RunFailure) => ComponentChildren;
};

/** What failed in a run: instances of fan-outs and steps of sub-workflows, with the reasons and the last lines. */
export function FailureList(props: FailuresProps) {
  const { failures, moreFailures } = props.view;
  return (
    <>
      {failures.map((failure) => (
        <FailureBox key={failurePath(failure)} failure={failure} {...props} />
      ))}
      {moreFailures > 0 && <p class="note">and {moreFailures.toLocaleString('en')} more failed</p>}
    </>
  );
}

function FailureBox({ failure, hrefOf, positionOf, below }: FailuresProps & { failure: RunFailure }) {
  const { runId, step, tolerated, kept, lines } = failure;
  const href = hrefOf(failure);
  const position = positionOf(failure);
  const name = <bdi>{failurePath(failure)}</bdi>;
  return (
    <article class="failure">
      <h3>
        <StatusIcon look={presentLook({ status: 'failed', tolerated })} />
        {href === null ? name : <a href={href}>{name}</a>}
        <span class="failure-why">{shortened(failureReason(failure), MAX_TEXT)}</span>
        {tolerated !== undefined && (
          <span class="quiet">
            tolerated by <code>{`continueOn.${tolerated}`}</code>
          </span>
        )}
        {kept && (
          <span class="quiet">
            in run <code>{shortId(runId)}</code>, not run again
          </span>
        )}
        {position && <span class="quiet">at {position}</span>}
      </h3>
      {lines.length > 0 && (
        <LogText label={`Last lines of ${step}`} kind="last-lines">
          <Spans spans={spansOfLines(lines.map((line) => line.slice(line.lastIndexOf('\r') + 1).slice(0, 2000)))} />
        </LogText>
      )}
      {below?.(failure)}
    </article>
  );
}

/** Output of a program. */
export function LogText({ label, kind = '', children }: { label: string; kind?: string; children: ComponentChildren }) {
  return (
    <pre class={`log ${kind}`} tabIndex={0} role="region" aria-label={label}>
      {children}
    </pre>
  );
}

/** The parts of all lines, line ends included; uncoloured parts are joined. `spansOf` has the colours that are active before. */
export function spansOfLines(lines: readonly string[], spansOf = createAnsiSpans()): readonly AnsiSpan[] {
  const spans: AnsiSpan[] = [];
  let plain: string[] = [];
  const add = () => {
    if (plain.length > 0) spans.push({ text: plain.join(''), classes: [], color: null, background: null });
    plain = [];
  };
  for (const line of lines) {
    for (const span of spansOf(line)) {
      if (isPlain(span)) plain.push(span.text);
      else {
        add();
        spans.push(span);
      }
    }
    plain.push('\n');
  }
  add();
  return spans;
}

function isPlain({ classes, color, background, href }: AnsiSpan): boolean {
  return classes.length === 0 && color === null && background === null && href === undefined;
}
