/** Whether the day exists. `Date.parse` does not check this: it reads February 30 as March 2. */
export function isCalendarDay(text: string): boolean {
  const at = Date.parse(text);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}
