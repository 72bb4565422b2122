import { hasKeys } from './settings.ts';

/** The actions of keys, by one key or by two in sequence: `g w`. */
export type Shortcuts = Readonly<Record<string, () => void>>;

/** The time limit for the second of two keys, in milliseconds. */
const SEQUENCE_MS = 1000;

/**
 * Listens to single keys outside of fields and dialogs. `otherwise` receives a key that is not a shortcut and returns
 * whether it handled the key. Returns a function that stops the listener.
 */
export function listenToKeys(shortcuts: Shortcuts, otherwise: (key: string) => boolean = () => false): () => void {
  let first = '';
  let firstAt = 0;
  const onKey = (event: KeyboardEvent) => {
    const isSingle = !isModified(event);
    if (event.altKey || (isSingle && (!hasKeys.value || isTyping(event.composedPath()[0])))) return;
    if (isSingle && document.querySelector('dialog[open]')) return;
    const key = `${isModified(event) ? 'Mod-' : ''}${event.key}`;
    const sequence = event.timeStamp - firstAt < SEQUENCE_MS ? `${first} ${key}` : key;
    const action = shortcuts[sequence] ?? shortcuts[key];
    first = key;
    firstAt = event.timeStamp;
    if (action === undefined && !(isSingle && otherwise(key))) return;
    event.preventDefault();
    action?.();
  };
  addEventListener('keydown', onKey);
  return () => removeEventListener('keydown', onKey);
}

function isModified(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey;
}

/** The innermost target, since the editor is in a shadow root. */
function isTyping(target: EventTarget | undefined): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');
}
