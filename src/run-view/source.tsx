import { useEffect, useRef } from 'preact/hooks';

type SourceProps = {
  readonly path: string;
  readonly text: string;
  /** Lines to highlight and scroll to, from 1. */
  readonly marked?: { readonly from: number; readonly to: number } | null | undefined;
};

/** The text of a workflow file, with highlighted keys and comments. */
export function SourceText({ path, text, marked }: SourceProps) {
  const area = useRef<HTMLElement>(null);
  useEffect(() => {
    const line = area.current?.querySelector<HTMLElement>('.marked');
    // Not `scrollIntoView`, which moves the whole page.
    if (area.current && line) area.current.scrollTop = line.offsetTop - area.current.clientHeight / 3;
  }, [path, marked?.from]);
  return (
    <section class="source" ref={area} tabIndex={0} aria-label={`Text of ${path}`}>
      <pre>
        <SourceLines text={text} marked={marked} />
      </pre>
    </section>
  );
}

type LinesProps = Omit<SourceProps, 'path'> & { readonly idOf?: (line: number) => string };

/** The numbered lines of a workflow file, with highlighted keys and comments. */
export function SourceLines({ text, marked, idOf }: LinesProps) {
  const lines = linesOf(text).map((line, index) => {
    const number = index + 1;
    const isMarked = marked != null && number >= marked.from && number <= marked.to;
    return (
      <span key={number} id={idOf?.(number)} class={isMarked ? 'frame-line marked' : 'frame-line'}>
        <span class="line-number">{number}</span>
        <Line text={line} />
        {'\n'}
      </span>
    );
  });
  return <>{lines}</>;
}

/** Splits a file into lines. */
export function linesOf(text: string): readonly string[] {
  return text.replace(/\n$/, '').split(/\r?\n/);
}

/** Other YAML syntax cannot be recognised line by line. */
function Line({ text }: { text: string }) {
  const [, indent = '', key, rest = ''] = /^([\s-]*)([\w.$-]+(?=:(?:\s|$)))?(.*)$/s.exec(text) ?? [];
  const at = commentStart(rest);
  return (
    <>
      {indent}
      {key !== undefined && <span class="key">{key}</span>}
      {at === -1 ? rest : rest.slice(0, at)}
      {at !== -1 && <span class="comment">{rest.slice(at)}</span>}
    </>
  );
}

/** A `#` at the start or after a space begins a comment, unless a quote before it is unclosed. */
function commentStart(text: string): number {
  const found = /(?:^|\s)#/.exec(text);
  if (found === null) return -1;
  const before = text.slice(0, found.index);
  const isQuoted = (before.split('"').length - 1) % 2 === 1 || (before.split("'").length - 1) % 2 === 1;
  return isQuoted ? -1 : found.index;
}
