import type { Clock } from '#system/clock.ts';
import { WfError } from '#system/errors.ts';

/** Watches whether this process is still the daemon of its directory. */
export type ClaimWatch = {
  /** Resolves to the `WfError` `conflict` that names the daemon that has claimed the directory meanwhile. */
  readonly lost: Promise<WfError>;
  /** Resolves when the last check has finished. */
  readonly close: () => Promise<void>;
};

/** The dependencies of a watch. */
export type ClaimWatchParts = {
  /** Claims the directory again if it was removed or replaced; whether it was. */
  readonly renew: () => Promise<boolean>;
  /** Called after the directory was claimed again. */
  readonly onRenewed: () => void;
  readonly clock: Clock;
  readonly report: (error: unknown) => void;
};

/** Two daemons may work on the same directory for this long. */
const pauseMs = 1000;

/** Starts to watch. An error other than the loss is reported once, until a check succeeds. */
export function watchClaim({ renew, onRenewed, clock, report }: ClaimWatchParts): ClaimWatch {
  let lose: (error: WfError) => void = () => {};
  const lost = new Promise<WfError>((resolve) => {
    lose = resolve;
  });
  let trouble = '';
  let isClosed = false;
  let checking = Promise.resolve();
  let takeBackTimer = () => {};
  const check = async () => {
    try {
      if (await renew()) onRenewed();
      trouble = '';
    } catch (error) {
      if (error instanceof WfError && error.code === 'conflict') {
        isClosed = true;
        return lose(error);
      }
      if (String(error) !== trouble) report(error);
      trouble = String(error);
    }
  };
  const checkLater = () => {
    if (isClosed) return;
    takeBackTimer = clock.setTimer(clock.now() + pauseMs, () => {
      checking = check().finally(checkLater);
    });
  };
  checkLater();
  return {
    lost,
    close: async () => {
      isClosed = true;
      takeBackTimer();
      await checking;
    },
  };
}
