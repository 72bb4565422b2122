/** Whether there is a day `2026-02-28`, of which `Date.parse` alone says nothing: it takes February 30 for March 2. */
export function isCalendarDay(text: string): boolean {
  const at = Date.parse(text);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}
