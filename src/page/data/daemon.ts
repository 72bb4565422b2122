import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { api, ask } from '../api/client.ts';
import type { DaemonInfo } from '../api/types.ts';

/** The daemon that serves this page; null: not known yet. */
const info = signal<DaemonInfo | null>(null);

/** A read-only login sees everything and changes nothing. */
export const isReadOnly: ReadonlySignal<boolean> = computed(() => info.value?.access === 'read');

/** Reads what the daemon is, and what this login may do. */
export async function readDaemonInfo(): Promise<void> {
  try {
    info.value = await ask(api.GET('/api/v2/info'));
  } catch {
    // The screen itself reports that the daemon does not answer; the daemon refuses what a login may not do.
  }
}
