import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { lazy, useLocation } from 'preact-iso';
import { pathOf, to } from '../../api/address.ts';
import { isReadOnly } from '../../data/login-session.ts';
import { hasKeys, switchZone } from '../../data/page-settings.ts';
import { leaving } from '../../data/workflows/unsaved.ts';

const Palette = lazy(() => import('../palette.tsx').then((part) => part.Palette));
const KeyHelp = lazy(() => import('./key-help.tsx').then((part) => part.KeyHelp));

const shown = signal<'palette' | 'start' | 'keys' | null>(null);

/** Opens the palette. */
export function openPalette(): void {
  shown.value = 'palette';
}

/** Opens the list of keys. */
export function openKeyHelp(): void {
  shown.value = 'keys';
}

/** The keyboard shortcuts of the page, and the dialogs that they open. */
export function Keyboard() {
  const { route } = useLocation();
  useEffect(() => {
    const go = (address: string) => () => leaving(() => route(pathOf(address)));
    const shortcuts = {
      'Mod-k': openPalette,
      '?': openKeyHelp,
      '/': () => document.querySelector<HTMLElement>('main input[type="search"]')?.focus(),
      'g w': go(to.workflows),
      'g r': go(to.runs),
      'g s': go(to.system),
      s: start,
      j: () => focusRow(1),
      k: () => focusRow(-1),
      '[': () => pressBeside('.attempts', -1),
      ']': () => pressBeside('.attempts', 1),
      t: switchZone,
    };
    return listenToKeys(shortcuts, press);
  }, [route]);
  const close = () => (shown.value = null);
  if (shown.value === 'palette' || shown.value === 'start')
    return <Palette given={shown.value === 'start' ? 'Start ' : ''} onClose={close} />;
  return shown.value === 'keys' ? <KeyHelp onClose={close} /> : null;
}

/** Activates the control of the screen that has this key as `data-key`. */
function press(key: string): boolean {
  const controls = document.querySelectorAll<HTMLElement>('main [data-key]:not(:disabled)');
  const control = [...controls].find(({ dataset }) => dataset['key'] === key);
  control?.click();
  return control !== undefined;
}

/** Starts the workflow of the screen or of the focused row; otherwise opens the palette. */
function start(): void {
  if (press('s')) return;
  const control = focusedRow()?.querySelector<HTMLElement>('[data-start]');
  if (control) control.click();
  else if (!isReadOnly.value) shown.value = 'start';
}

function pressBeside(group: string, by: number): void {
  const buttons = [...document.querySelectorAll<HTMLElement>(`main ${group} button`)];
  buttons[buttons.findIndex((button) => button.ariaPressed === 'true') + by]?.click();
}

/** The actions of keys, by one key or by two in sequence: `g w`. */
type Shortcuts = Readonly<Record<string, () => void>>;

/** The time limit for the second of two keys, in milliseconds. */
const SEQUENCE_MS = 1000;

/** Listens to keys outside of fields and dialogs until the returned function is called. `otherwise`: handles other keys. */
function listenToKeys(shortcuts: Shortcuts, otherwise: (key: string) => boolean = () => false): () => void {
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

/** Listens to single keys while a component is shown. */
export function useKeys(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    const actions = Object.keys(shortcuts).map((key) => [key, () => latest.current[key]?.()]);
    return listenToKeys(Object.fromEntries(actions));
  }, []);
}

function isModified(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey;
}

/** The innermost target, since the editor is in a shadow root. */
function isTyping(target: EventTarget | undefined): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');
}

/** The rows of lists: of workflows and runs, of steps, of a timeline, of a history. */
const ROWS = 'main .row, main .step-rows li, main .timeline tbody tr, main .grid tbody tr';

/** Moves the focus to the link of the next or previous row of a list; `Enter` then follows it. */
function focusRow(step: 1 | -1): void {
  const links = Array.from(document.querySelectorAll<HTMLElement>(ROWS)).flatMap(
    (row) => row.querySelector<HTMLElement>('a[href]') ?? [],
  );
  const current = links.findIndex((link) => link.closest(ROWS)?.contains(document.activeElement));
  const next = links[current === -1 ? links.findIndex(isVisible) : current + step];
  next?.focus();
  // The sticky bar covers the top of the scrolled area.
  next?.scrollIntoView({ block: 'nearest' });
}

/** The row with the focus. */
export function focusedRow(): HTMLElement | null {
  return document.activeElement?.closest<HTMLElement>(ROWS) ?? null;
}

function isVisible(element: HTMLElement): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}
