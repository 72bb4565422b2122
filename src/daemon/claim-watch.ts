import type { Clock } from '#system/clock.ts';
import type { WfError } from '#system/errors.ts';

/** Watches whether this process is still the daemon of its directory. */
export type ClaimWatch = {
  /** Resolves to the reason when it no longer is. */
  readonly lost: Promise<WfError>;
  readonly close: () => void;
};

/** The dependencies of a watch. */
type ClaimWatchParts = {
  /** The reason why this process is not the daemon; null while it is. */
  readonly loss: () => WfError | null;
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
};

/** Two daemons may work on the same directory for this long. */
const pollMs = 1000;

/** Starts to watch. An error of a check is reported once, until a check succeeds. */
export function watchClaim({ loss, clock, report }: ClaimWatchParts): ClaimWatch {
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
      cancelTimer = clock.setTimer(clock.now() + pollMs, () => {
        const error = check();
        if (error === null) checkLater();
        else resolve(error);
      });
    };
    checkLater();
  });
  return { lost, close: () => cancelTimer() };
}
