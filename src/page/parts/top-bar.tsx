import type { JSX } from 'preact';
import { to } from '../api/address.ts';
import { isOffline, lastAnswerAt } from '../data/connection.ts';
import { isUtc, nextTheme, theme } from '../data/settings.ts';
import { momentText } from './time.tsx';

/** The bar above every screen. */
export function TopBar(): JSX.Element {
  return (
    <header class="top-bar">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <a class="brand" href={to.workflows}>
        wf
      </a>
      <span class="space" />
      <button type="button" class="plain" onClick={() => (isUtc.value = !isUtc.value)} title="Times: local or UTC">
        {isUtc.value ? 'UTC' : 'Local time'}
      </button>
      <button type="button" class="plain" onClick={nextTheme} title="Colours: of the system, light or dark">
        {themeNames[theme.value]}
      </button>
    </header>
  );
}

const themeNames = { system: 'Auto', light: 'Light', dark: 'Dark' } as const;

/** Says since when the daemon has not answered. */
export function OfflineBar(): JSX.Element | null {
  if (!isOffline.value) return null;
  return (
    <div class="offline" role="status">
      Offline, shown as of {momentText(new Date(lastAnswerAt.value).toISOString()).slice(11)}
    </div>
  );
}
