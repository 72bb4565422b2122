import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { logIn, logins, session, sessionProblem } from '../data/login-session.ts';
import { useRequest } from '../data/resource.ts';
import { useModal } from '../parts/dialog.tsx';
import { ProblemBox } from '../parts/problem-box.tsx';
import { useTitle } from '../parts/screen.tsx';

/** The login, shown at the address of the requested screen. */
export function LoginScreen() {
  useTitle('Log in');
  return (
    <section class="login card">
      <h1>Log in</h1>
      <p class="quiet">
        to <code>{location.host}</code>
      </p>
      <LoginForm />
    </section>
  );
}

/** The login over a screen whose session has ended. */
export function LoginDialog() {
  // A browser closes a dialog whatever the page says if `Escape` is pressed again.
  const reopen = () => {
    if (dialog.current?.open === false) dialog.current.showModal();
  };
  const dialog = useModal({ onClose: reopen });
  return (
    <dialog ref={dialog} class="login" aria-labelledby="login-title" onCancel={(event) => event.preventDefault()}>
      <h2 id="login-title">The session has ended</h2>
      <p class="quiet">Log in to continue. The page keeps what you have entered.</p>
      <LoginForm />
    </dialog>
  );
}

function LoginForm() {
  const name = useSignal(session.value?.name ?? '');
  const password = useSignal('');
  const { problem, isPending, send } = useRequest();
  const hasName = logins.value.includes('password');
  const nameField = useRef<HTMLInputElement>(null);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => (name.value === '' && nameField.current !== null ? nameField : field).current?.focus(), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    const given = hasName ? { name: name.value, password: password.value } : { token: password.value };
    sessionProblem.value = null;
    if (await send(() => logIn(given))) isPending.value = false;
    else field.current?.select();
  };
  const shown = problem.value ?? sessionProblem.value;
  return (
    <form onSubmit={(event) => void submit(event)}>
      {hasName ? (
        <div class="field">
          <label for="login-name">Name</label>
          <input
            id="login-name"
            ref={nameField}
            type="text"
            autocomplete="username"
            autocapitalize="none"
            spellcheck={false}
            value={name.value}
            onInput={(event) => (name.value = event.currentTarget.value)}
          />
        </div>
      ) : (
        // Password managers store a token under a name.
        <input type="text" hidden readOnly autocomplete="username" value="token" />
      )}
      <div class="field">
        <label for="login-password">{labelOf(logins.value)}</label>
        <input
          id="login-password"
          ref={field}
          type="password"
          autocomplete="current-password"
          required
          value={password.value}
          onInput={(event) => (password.value = event.currentTarget.value)}
        />
      </div>
      {shown !== null && <ProblemBox problem={shown} />}
      <div class="form-buttons">
        <button type="submit" class="main" disabled={isPending.value}>
          {isPending.value ? 'Logging in' : 'Log in'}
        </button>
      </div>
    </form>
  );
}

function labelOf(accepted: readonly string[]): string {
  if (!accepted.includes('password')) return 'Token';
  return accepted.includes('token') ? 'Password or token' : 'Password';
}
