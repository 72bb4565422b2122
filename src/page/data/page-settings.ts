import { effect, signal } from '@preact/signals';

type Theme = 'system' | 'light' | 'dark' | 'contrast';

const themes: readonly Theme[] = ['system', 'light', 'dark', 'contrast'];

/** The theme of the page. */
export const theme = signal<Theme>(themes.find((name) => name === stored('wf.theme')) ?? 'system');

/** Whether times are shown in UTC instead of the time zone of the browser. */
export const isUtc = signal(stored('wf.utc') === 'true');

/** Whether long log lines are wrapped. */
export const wrapsLogs = signal(stored('wf.wrap') === 'true');

/** Whether log lines have the times at which they were written. */
export const showsLogTimes = signal(stored('wf.times') === 'true');

/** Whether single-key shortcuts are active; `Mod-K` always is. */
export const hasKeys = signal(stored('wf.keys') !== 'false');

/** Switches to the next theme. */
export function nextTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? 'system';
}

/** Shows times in UTC or, again, in the time zone of the browser. */
export function switchZone(): void {
  isUtc.value = !isUtc.value;
}

/** Keeps the settings in the browser, and the theme on the document. */
export function applySettings(): void {
  effect(() => {
    document.documentElement.dataset['theme'] = theme.value;
    keep('wf.theme', theme.value);
  });
  effect(() => keep('wf.utc', String(isUtc.value)));
  effect(() => keep('wf.keys', String(hasKeys.value)));
  effect(() => keep('wf.wrap', String(wrapsLogs.value)));
  effect(() => keep('wf.times', String(showsLogTimes.value)));
}

/** Browsers can refuse storage; the settings then last until the page is closed. */
function stored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

function keep(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // See above.
  }
}
