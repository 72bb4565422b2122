import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { DaemonStatus } from '#run-view/api/types.ts';
import { session } from './session.ts';

/** A read-only login can view everything and change nothing. */
export const isReadOnly: ReadonlySignal<boolean> = computed(() => session.value?.access === 'read');

/** The latest description of the daemon in the event stream; null before the first one. */
export const daemonStatus = signal<DaemonStatus | null>(null);
