import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

type SourceProps = {
  readonly path: string;
  readonly text: string;
  /** Lines that are marked and scrolled to, from 1. */
  readonly marked?: { readonly from: number; readonly to: number } | null | undefined;
};

/** The text of a workflow file, with keys and comments highlighted. */
export function SourceText({ path, text, marked }: SourceProps): JSX.Element {
  const area = useRef<HTMLElement>(null);
  useEffect(() => {
    const line = area.current?.querySelector<HTMLElement>('.marked');
    // Not `scrollIntoView`, which moves the whole page.
    if (area.current && line) area.current.scrollTop = line.offsetTop - area.current.clientHeight / 3;
  }, [path, marked?.from]);
  return (
    <section class="source" ref={area} tabIndex={0} aria-label={`Text of ${path}`}>
      <pre>
        {text
          .replace(/\n$/, '')
          .split('\n')
          .map((line, index) => {
            const isMarked = marked != null && index + 1 >= marked.from && index + 1 <= marked.to;
            return (
              <span key={`${index + 1}`} class={`frame-line ${isMarked ? 'marked' : ''}`}>
                <span class="line-number">{index + 1}</span>
                <Line text={line} />
                {'\n'}
              </span>
            );
          })}
      </pre>
    </section>
  );
}

function Line({ text }: { text: string }): JSX.Element {
  const [, indent = '', key, rest = ''] = /^(\s*(?:- +)*)([\w.$-]+(?=:(?:\s|$)))?(.*)$/s.exec(text) ?? [];
  const comment = /(?:^|\s)#.*$/.exec(rest)?.[0] ?? '';
  const isQuoted = /["']/.test(rest.slice(0, rest.length - comment.length)) && /["']/.test(comment);
  const shown = isQuoted ? '' : comment;
  return (
    <>
      {indent}
      {key !== undefined && <span class="key">{key}</span>}
      {rest.slice(0, rest.length - shown.length)}
      {shown !== '' && <span class="comment">{shown}</span>}
    </>
  );
}
