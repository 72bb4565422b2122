import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { DaemonStatus, LoginRequest, Session } from '#run-view/api/types.ts';
import { to } from '../api/address.ts';
import { ApiProblem, api, ask, sendCsrf } from '../api/client.ts';
import { isSignedOut } from './connection.ts';

/** Whether the daemon requires a login, as given in the document. */
const isLoginRequired = document.querySelector('meta[name="login"]') !== null;

const withoutLogin: Session = { logins: [], access: 'write', name: null, csrf: null };

/** The login of this page; it is kept while `isSignedOut`, for a user who logs in again. Null: not known yet. */
export const session = signal<Session | null>(isLoginRequired ? null : withoutLogin);

/** The logins that the daemon accepts. */
export const logins = signal<Session['logins']>([]);

/** The problem if the login could not be read. */
export const sessionProblem = signal<ApiProblem | null>(null);

/** Whether the document was served before the login: its address may be one that the daemon itself answers. */
export let hasLoggedInHere = false;

/** Notifies other tabs of the browser that show the same daemon. */
const tabs = new BroadcastChannel(`wf ${document.baseURI}`);

/** Reads the login, first by the token of a start link (`#token=...`), which is removed from the address at once. */
export function startSession(): void {
  const token = takeToken();
  if (!isLoginRequired) return;
  addEventListener('hashchange', () => {
    const next = takeToken();
    if (next !== null) void logInByLink(next);
  });
  tabs.onmessage = ({ data }) => {
    if (data === 'logout') location.reload();
    else void readSession();
  };
  void (token === null ? readSession() : logInByLink(token));
}

/** Checks whether the session still exists; if not, the page shows the login. */
export async function readSession(): Promise<void> {
  if (!isLoginRequired) return;
  try {
    take(await ask(api.GET('/api/v2/session')));
  } catch (error) {
    sessionProblem.value = ApiProblem.of(error);
  }
}

/** Logs in. Throws an `ApiProblem`. */
export async function logIn(body: LoginRequest): Promise<void> {
  const next = await ask(api.POST('/api/v2/session', { body }));
  hasLoggedInHere = session.value === null;
  take(next);
  tabs.postMessage('login');
}

/** Logs out in all tabs. */
export async function logOut(): Promise<void> {
  try {
    await ask(api.DELETE('/api/v2/session'));
  } catch (error) {
    // On any other error the session has ended already.
    if (ApiProblem.of(error).status !== 401) throw error;
  }
  tabs.postMessage('logout');
  location.assign(new URL(to.login, document.baseURI));
}

async function logInByLink(token: string): Promise<void> {
  try {
    await logIn({ token });
  } catch (error) {
    const problem = ApiProblem.of(error);
    await readSession();
    sessionProblem.value = problem;
  }
}

function take(next: Session): void {
  sessionProblem.value = null;
  logins.value = next.logins;
  isSignedOut.value = next.access === null;
  if (next.access === null) return;
  const known = session.value;
  // Another user must not see the data in this page.
  if (known !== null && (known.name !== next.name || known.access !== next.access)) location.reload();
  sendCsrf(next.csrf);
  session.value = next;
}

function takeToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token !== null) history.replaceState(history.state, '', location.pathname + location.search);
  return token;
}

/** A read-only login can view everything and change nothing. */
export const isReadOnly: ReadonlySignal<boolean> = computed(() => session.value?.access === 'read');

/** The latest description of the daemon in the event stream; null before the first one. */
export const daemonStatus = signal<DaemonStatus | null>(null);
