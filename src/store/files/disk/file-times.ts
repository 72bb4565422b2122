/** Resolution of file times, in milliseconds: a second change within it may leave the time unchanged. */
const coarsestMs = 50;

/** Whether something changed so recently that another change may leave its time unchanged. */
export function mayHideChange(changedAt: number, now: number): boolean {
  return Math.abs(now - changedAt) < coarsestMs;
}
