/** A time limit as its file gives it, in seconds: `2s`, `0.5s`. */
export function formatSeconds(ms: number): string {
  return `${ms / 1000}s`;
}
