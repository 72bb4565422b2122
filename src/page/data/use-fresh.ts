import { useEffect } from 'preact/hooks';

/** How often a list is asked for again; an unchanged one costs a 304. */
const REFRESH_MS = 2000;
/** The longest pause between two tries while the daemon does not answer. */
const LONGEST_PAUSE_MS = 30_000;

/** Refreshes while the component is shown: at once, then again and again, and when the browser's tab is shown again. */
export function useFresh(refresh: () => Promise<boolean>, dependencies: readonly unknown[]): void {
  useEffect(() => {
    let timer = 0;
    let pauseMs = REFRESH_MS;
    let isOver = false;
    const turn = async () => {
      clearTimeout(timer);
      if (!document.hidden) pauseMs = (await refresh()) ? REFRESH_MS : Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      if (!isOver) timer = setTimeout(turn, pauseMs) as unknown as number;
    };
    const onShow = () => {
      if (!document.hidden) void turn();
    };
    document.addEventListener('visibilitychange', onShow);
    void turn();
    return () => {
      isOver = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', onShow);
    };
  }, dependencies);
}
