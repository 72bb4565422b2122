import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { ErrorBoundary, lazy, useLocation } from 'preact-iso';
import { pathOf, to } from '../api/address.ts';
import { isSignedOut } from '../data/connection.ts';
import { readSession, session, sessionProblem } from '../data/session.ts';
import { Loading } from './loading.tsx';
import { ProblemBox } from './problem-box.tsx';

const LoginScreen = lazy(() => import('../screens/login.tsx').then((screen) => screen.LoginScreen));
const LoginDialog = lazy(() => import('../screens/login.tsx').then((screen) => screen.LoginDialog));

/**
 * The children if the user is logged in, else the login. If the session ends later, the login covers the children,
 * which keep their state.
 */
export function SignedIn({ children }: { children: ComponentChildren }): JSX.Element {
  const { path, route } = useLocation();
  const isKnown = session.value !== null;
  useEffect(() => {
    if (isKnown && path === pathOf(to.login)) route(pathOf(to.workflows), true);
  }, [isKnown, path]);
  if (isKnown) {
    return (
      <>
        {children}
        <ErrorBoundary>{isSignedOut.value && <LoginDialog />}</ErrorBoundary>
      </>
    );
  }
  if (isSignedOut.value) return <LoginScreen />;
  const problem = sessionProblem.value;
  return problem === null ? (
    <Loading />
  ) : (
    <ProblemBox what="Login" problem={problem} retry={() => void readSession()} />
  );
}
