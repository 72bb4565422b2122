import { computed, type ReadonlySignal } from '@preact/signals';
import { session } from './session.ts';

/** A read-only login sees everything and changes nothing. */
export const isReadOnly: ReadonlySignal<boolean> = computed(() => session.value?.access === 'read');
