import type { JSX } from 'preact';

/** Outlines of what is being loaded; the style sheet shows them after a moment only. */
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
