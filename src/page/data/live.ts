import type { DaemonStatus } from '#run-view/api/types.ts';
import { checkConnection, connected, disconnected, isSignedOut, onReconnection } from './connection.ts';
import { daemonStatus, readSession } from './login-session.ts';

/** Handlers by event name; each receives the new state of a run, step, workflow or of the daemon. */
export type LiveEvents = Readonly<Record<string, (data: never) => void>>;

/** A hidden page closes its connection after this time: a browser allows six connections for all of its tabs. */
const HIDDEN_MS = 5000;
const LONGEST_PAUSE_MS = 30_000;
/** The daemon sends an event every 15 seconds. A stream that is silent for longer is dead, as after a sleep of the machine. */
const SILENT_MS = 40_000;
const CHECK_MS = 1000;

/**
 * Follows the changes of the daemon and, with `run`, the steps and logs of that run. Calls `reload` when lists and
 * views must be loaded again: at the start without the `cursor` of what is loaded, after missed changes, and after a
 * reconnection, since a request may have failed meanwhile. Returns a function that stops it.
 */
export function followLive(run: string | null, events: LiveEvents, reload: () => void, cursor = ''): () => void {
  let source: EventSource | null = null;
  let pauseMs = 1000;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let heardAt = Date.now();
  const close = () => {
    source?.close();
    source = null;
  };
  const open = () => {
    clearTimeout(timer);
    if (source !== null || isSignedOut.value) return;
    const query = new URLSearchParams({
      ...(run === null ? {} : { run, instances: 'changed' }),
      ...(cursor === '' ? {} : { after: cursor }),
    });
    heardAt = Date.now();
    source = new EventSource(new URL(`api/v2/events?${query}`, document.baseURI));
    source.onopen = () => {
      pauseMs = 1000;
      heardAt = Date.now();
      connected();
    };
    source.onerror = () => {
      // The browser itself reconnects.
      if (source?.readyState !== EventSource.CLOSED) return disconnected();
      close();
      // The daemon may have refused: the session has ended, or the run was removed.
      void checkConnection();
      void readSession();
      timer = setTimeout(open, pauseMs);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    };
    let isNew = cursor === '';
    // The first event of a stream; later ones report changes of the daemon itself.
    listen(source, 'daemon', (status) => {
      daemonStatus.value = status as DaemonStatus;
      if (isNew) reload();
      isNew = false;
    });
    listen(source, 'reset', reload);
    for (const [name, handle] of Object.entries(events)) listen(source, name, handle as (data: unknown) => void);
  };
  const listen = (from: EventSource, name: string, handle: (data: unknown) => void) => {
    from.addEventListener(name, (event: MessageEvent<string>) => {
      heardAt = Date.now();
      connected();
      if (event.lastEventId !== '') cursor = event.lastEventId;
      handle(JSON.parse(event.data));
    });
  };
  const onVisibility = () => {
    clearTimeout(timer);
    if (!document.hidden) open();
    else timer = setTimeout(close, HIDDEN_MS);
  };
  const watch = setInterval(() => {
    if (source === null || Date.now() - heardAt < SILENT_MS) return;
    close();
    disconnected();
    void checkConnection();
  }, CHECK_MS);
  document.addEventListener('visibilitychange', onVisibility);
  const stopWatching = isSignedOut.subscribe((isOut) => {
    if (isOut) close();
    else if (!document.hidden) open();
  });
  const stopWaiting = onReconnection(() => {
    if (!document.hidden) open();
    reload();
  });
  return () => {
    stopWatching();
    stopWaiting();
    document.removeEventListener('visibilitychange', onVisibility);
    clearTimeout(timer);
    clearInterval(watch);
    close();
  };
}
