import type { JSX } from 'preact';

/** The strip has this many rows; hits in the same row share one mark. */
const ROWS = 400;

/** The positions of the hits in the log, beside the scroll bar. */
export function HitMarks({ hits, lines }: { hits: readonly number[]; lines: number }): JSX.Element | null {
  if (hits.length === 0 || lines === 0) return null;
  const rows = new Set(hits.map((line) => Math.floor((line / lines) * ROWS)));
  const path = Array.from(rows, (row) => `M0 ${row}h1v2h-1z`).join('');
  return (
    <svg class="hit-marks" viewBox={`0 0 1 ${ROWS + 2}`} preserveAspectRatio="none" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}
