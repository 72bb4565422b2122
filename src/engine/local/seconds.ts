/** Formats a time limit in seconds, as in the workflow file: `2s`, `0.5s`. */
export function formatSeconds(ms: number): string {
  return `${ms / 1000}s`;
}
