import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { lazy, useLocation } from 'preact-iso';
import { pathOf, to } from '../../api/address.ts';
import { isReadOnly } from '../../data/daemon.ts';
import { isUtc } from '../../data/settings.ts';
import { listenToKeys } from '../../data/shortcuts.ts';
import { leaving } from '../../data/workflows/unsaved.ts';
import { focusedRow, focusRow } from './row-keys.ts';

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
export function Keyboard(): JSX.Element | null {
  const { route } = useLocation();
  useEffect(
    () =>
      listenToKeys(
        {
          'Mod-k': openPalette,
          '?': openKeyHelp,
          '/': () => document.querySelector<HTMLElement>('main input[type="search"]')?.focus(),
          'g w': () => leaving(() => route(pathOf(to.workflows))),
          'g r': () => leaving(() => route(pathOf(to.runs))),
          'g s': () => leaving(() => route(pathOf(to.system))),
          s: start,
          j: () => focusRow(1),
          k: () => focusRow(-1),
          '[': () => pressBeside('.attempts', -1),
          ']': () => pressBeside('.attempts', 1),
          t: () => {
            isUtc.value = !isUtc.value;
          },
        },
        press,
      ),
    [route],
  );
  const close = () => {
    shown.value = null;
  };
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

/** Activates the button before or after the active one. */
function pressBeside(group: string, by: number): void {
  const buttons = [...document.querySelectorAll<HTMLElement>(`main ${group} button`)];
  buttons[buttons.findIndex((button) => button.ariaPressed === 'true') + by]?.click();
}
