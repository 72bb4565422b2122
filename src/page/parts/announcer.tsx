import { signal } from '@preact/signals';
import type { JSX } from 'preact';

const text = signal('');

/** Lets a screen reader say something once it has finished its sentence: the end of a run, a failure. */
export function announce(said: string): void {
  text.value = said;
}

/** The one part of the page that is read out when it changes. */
export function Announcer(): JSX.Element {
  return (
    <div class="sr" role="status" aria-live="polite">
      {text}
    </div>
  );
}
