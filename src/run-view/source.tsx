import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { SourceLines } from './source-lines.tsx';

type SourceProps = {
  readonly path: string;
  readonly text: string;
  /** Lines to highlight and scroll to, from 1. */
  readonly marked?: { readonly from: number; readonly to: number } | null | undefined;
};

/** The text of a workflow file, with highlighted keys and comments. */
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
        <SourceLines text={text} marked={marked} />
      </pre>
    </section>
  );
}
