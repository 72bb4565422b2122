import { type StopSignal, stopSignals } from '../exit-codes.ts';

/** Whether somebody wants the watching to end. */
export type Interrupt = {
  readonly aborted: AbortSignal;
  /** The first signal; null as long as there was none. */
  readonly signal: () => StopSignal | null;
  readonly close: () => void;
};

/** Listens for the signals that stop a run; the run, if one goes on, gets them too. */
export function listenForInterrupt(): Interrupt {
  const controller = new AbortController();
  let first: StopSignal | null = null;
  const names = Object.keys(stopSignals) as StopSignal[];
  const listener = (signal: NodeJS.Signals) => {
    first ??= names.find((name) => name === signal) ?? null;
    controller.abort();
  };
  for (const name of names) process.on(name, listener);
  return {
    aborted: controller.signal,
    signal: () => first,
    close: () => {
      for (const name of names) process.off(name, listener);
    },
  };
}
