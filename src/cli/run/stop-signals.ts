import type { ActiveRun } from '#engine/engine.ts';
import { type StopSignal, stopSignals } from '../exit-codes.ts';

/** Passes signals on to a run: the first stops it, and its handlers still run; the second kills at once. */
export function listenForSignals() {
  let first: StopSignal | null = null;
  let forced: AbortController | null = null;
  let active: Pick<ActiveRun, 'cancel'> | null = null;
  const controller = () => {
    forced ??= new AbortController();
    return forced;
  };
  const cancel = (signal: StopSignal, force: boolean) => {
    active?.cancel({ reason: 'stop', message: `stopped by ${signal}`, force });
  };
  const listeners = (Object.keys(stopSignals) as StopSignal[]).map((signal) => {
    const listener = () => {
      const force = first !== null;
      if (force) controller().abort();
      first ??= signal;
      cancel(signal, force);
    };
    process.on(signal, listener);
    return { signal, listener };
  });
  return {
    attach: (run: Pick<ActiveRun, 'cancel'>) => {
      active = run;
      if (first !== null) cancel(first, false);
    },
    signal: () => first,
    /** Aborted by the second signal: the user does not want to wait. Made when asked for: Node loads a module for the first one. */
    get forced() {
      return controller().signal;
    },
    close: () => {
      for (const { signal, listener } of listeners) process.off(signal, listener);
    },
  };
}
