import type { JSX } from 'preact';

/** Placeholders during loading; the style sheet shows them after a delay. */
export function Loading(): JSX.Element {
  return (
    <div class="loading" aria-busy="true">
      <span class="sr">Loading</span>
      <i />
      <i />
      <i />
    </div>
  );
}
