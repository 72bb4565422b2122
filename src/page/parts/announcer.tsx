import { signal } from '@preact/signals';
import type { JSX } from 'preact';

const text = signal('');

/** Announces a message to screen readers, politely: the end of a run, a failure. */
export function announce(said: string): void {
  text.value = said;
}

/** The only live region of the page. */
export function Announcer(): JSX.Element {
  return (
    <div class="sr" role="status" aria-live="polite">
      {text}
    </div>
  );
}
