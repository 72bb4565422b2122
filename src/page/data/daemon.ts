import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { DaemonStatus } from '../api/types.ts';
import { session } from './session.ts';

/** A read-only login sees everything and changes nothing. */
export const isReadOnly: ReadonlySignal<boolean> = computed(() => session.value?.access === 'read');

/** The daemon as the stream of changes described it last; null before. */
export const daemonStatus = signal<DaemonStatus | null>(null);
