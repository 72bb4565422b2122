/** What a key does, by the key or by two keys one after another: `g w`. */
export type Shortcuts = Readonly<Record<string, () => void>>;

/** The second of two keys comes within this time. */
const SEQUENCE_MS = 1000;

/** Listens to single keys, which do nothing in fields and dialogs. Returns a function that stops it. */
export function listenToKeys(shortcuts: Shortcuts): () => void {
  let first = '';
  let firstAt = 0;
  const onKey = (event: KeyboardEvent) => {
    if (
      event.altKey ||
      (!isModified(event) && (isTyping(event.composedPath()[0]) || document.querySelector('dialog[open]')))
    )
      return;
    const key = `${isModified(event) ? 'Mod-' : ''}${event.key}`;
    const sequence = event.timeStamp - firstAt < SEQUENCE_MS ? `${first} ${key}` : key;
    const action = shortcuts[sequence] ?? shortcuts[key];
    first = key;
    firstAt = event.timeStamp;
    if (action === undefined) return;
    event.preventDefault();
    action();
  };
  addEventListener('keydown', onKey);
  return () => removeEventListener('keydown', onKey);
}

function isModified(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey;
}

/** The innermost target: the editor is in a shadow root. */
function isTyping(target: EventTarget | undefined): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');
}
