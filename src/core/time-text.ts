const unitMs = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Parses a duration such as `90m`, `6h`, `2d12h`, or `3600` in seconds, to milliseconds; null for any other text. */
export function parseSpan(text: string): number | null {
  if (/^\d{1,10}(\.\d+)?$/.test(text)) return Number(text) * unitMs.s;
  if (!/^(\d{1,10}(\.\d+)?[smhdw])+$/.test(text)) return null;
  const parts = [...text.matchAll(/([\d.]+)([smhdw])/g)];
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * unitMs[unit as keyof typeof unitMs], 0);
}

/** Whether the day exists. `Date.parse` does not check this: it reads February 30 as March 2. */
export function isCalendarDay(text: string): boolean {
  const at = Date.parse(text);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}
