import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { lazy, useLocation } from 'preact-iso';
import { pathOf, to } from '../api/address.ts';
import { isUtc } from '../data/settings.ts';
import { listenToKeys } from '../data/shortcuts.ts';
import { leaving } from '../data/unsaved.ts';
import { focusRow } from './row-keys.ts';

const Palette = lazy(() => import('./palette.tsx').then((part) => part.Palette));
const KeyHelp = lazy(() => import('./key-help.tsx').then((part) => part.KeyHelp));

const shown = signal<'palette' | 'keys' | null>(null);

/** Opens the palette. */
export function openPalette(): void {
  shown.value = 'palette';
}

/** The keys of the page, and the dialogs that they open. */
export function Keyboard(): JSX.Element | null {
  const { route } = useLocation();
  useEffect(
    () =>
      listenToKeys({
        'Mod-k': openPalette,
        '?': () => {
          shown.value = 'keys';
        },
        '/': () => document.querySelector<HTMLElement>('main input[type="search"]')?.focus(),
        'g w': () => leaving(() => route(pathOf(to.workflows))),
        'g r': () => leaving(() => route(pathOf(to.runs))),
        j: () => focusRow(1),
        k: () => focusRow(-1),
        t: () => {
          isUtc.value = !isUtc.value;
        },
      }),
    [route],
  );
  const close = () => {
    shown.value = null;
  };
  if (shown.value === 'palette') return <Palette onClose={close} />;
  return shown.value === 'keys' ? <KeyHelp onClose={close} /> : null;
}
