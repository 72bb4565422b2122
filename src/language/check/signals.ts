import { os } from '#start-up/os.ts';

/**
 * The platform's spelling of a signal given with or without `SIG`, in any case, or by number; null if it is unknown.
 */
export function canonicalSignal(name: string): string | null {
  const upper = name.trim().toUpperCase();
  const wanted = upper.startsWith('SIG') ? upper : `SIG${upper}`;
  if (wanted in os().constants.signals) return wanted;
  const byNumber = Object.entries(os().constants.signals).find(([, number]) => String(number) === upper);
  return byNumber?.[0] ?? null;
}

/** All signals of the platform. */
export function signalNames(): string[] {
  return Object.keys(os().constants.signals);
}
