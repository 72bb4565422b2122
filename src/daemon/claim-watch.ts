import type { Clock } from '#system/clock.ts';
import type { WfError } from '#system/errors.ts';

/** Two daemons may work on the same directory for this long. */
const POLL_MS = 1000;

/**
 * Watches whether this process is still the daemon of its directory: `lost` resolves to the reason when it no longer is, as
 * `loss` returns it. An error of a check is reported once, until a check succeeds.
 */
export function watchClaim(loss: () => WfError | null, report: (error: unknown) => void, clock: Clock) {
  let trouble = '';
  let cancelTimer = () => {};
  const check = (): WfError | null => {
    try {
      const lost = loss();
      trouble = '';
      return lost;
    } catch (error) {
      if (String(error) !== trouble) report(error);
      trouble = String(error);
      return null;
    }
  };
  const lost = new Promise<WfError>((resolve) => {
    const checkLater = () => {
      cancelTimer = clock.setTimer(clock.now() + POLL_MS, () => {
        const error = check();
        if (error === null) checkLater();
        else resolve(error);
      });
    };
    checkLater();
  });
  return { lost, close: () => cancelTimer() };
}
