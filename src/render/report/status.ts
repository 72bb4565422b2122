import { type Html, html, trusted } from './html.ts';
import type { StatusKind, StatusLook } from './status-look.ts';

/** Shapes of 16 by 16 units that differ without their colours too. */
const shapes: Readonly<Record<StatusKind, string>> = {
  succeeded: '<circle cx="8" cy="8" r="8"/><path class="in" d="M4.4 8.3 7 10.9l4.7-5.3"/>',
  partly: '<circle cx="8" cy="8" r="8"/><path class="in" d="M4.4 8.3 7 10.9l4.7-5.3"/>',
  failed: '<circle cx="8" cy="8" r="8"/><path class="in" d="m5.2 5.2 5.6 5.6m0-5.6-5.6 5.6"/>',
  canceled: '<circle cx="8" cy="8" r="8"/><path class="in" d="M5.6 5.6h4.8v4.8H5.6z"/>',
  skipped: '<circle class="ring" cx="8" cy="8" r="7"/><path class="line" d="M4.5 8h6M8.3 5.3 11 8l-2.7 2.7"/>',
  upstream_failed: '<circle class="ring" cx="8" cy="8" r="7"/><path class="line" d="m3.4 12.6 9.2-9.2"/>',
  pending: '<circle class="ring dashed" cx="8" cy="8" r="7"/>',
  scheduled: '<circle class="ring" cx="8" cy="8" r="7"/><path class="line" d="M6.5 5v6l4.5-3z"/>',
  running: '<circle class="ring" cx="8" cy="8" r="7"/><path d="M8 3a5 5 0 0 1 0 10z"/>',
  waiting: '<circle class="ring" cx="8" cy="8" r="7"/><path class="line" d="M8 4.2V8l2.6 1.8"/>',
};

/** The sign of a status; hidden from screen readers, which read the word next to it. */
export function statusIcon({ kind }: StatusLook): Html {
  return html`<svg class="icon ${kind}" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true"><use href="#i-${kind}"/></svg>`;
}

/** What the signs of a page refer to. */
export function iconShapes(): Html {
  const symbols = Object.entries(shapes).map(
    ([kind, shape]) => `<symbol id="i-${kind}" viewBox="0 0 16 16">${shape}</symbol>`,
  );
  return html`<svg width="0" height="0" class="defs" aria-hidden="true">${trusted(symbols.join(''))}</svg>`;
}
