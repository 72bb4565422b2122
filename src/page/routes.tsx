import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ErrorBoundary, LocationProvider, lazy, Route, Router, useLocation } from 'preact-iso';
import { basePath, pathOf, to } from './api/address.ts';
import { ApiProblem } from './api/client.ts';
import { isSignedOut } from './data/connection.ts';
import { hasLoggedInHere, readSession, session, sessionProblem } from './data/login-session.ts';
import { Keyboard } from './parts/keys/keyboard.tsx';
import { LoadingOrProblem, ProblemBox } from './parts/problem-box.tsx';
import { Announcer, focusScreen, useTitle } from './parts/screen.tsx';
import { OfflineBar, TopBar } from './parts/top-bar.tsx';
import { Workflows } from './screens/workflows.tsx';

const Run = lazy(() => import('./screens/run/run.tsx').then((screen) => screen.Run));
const Runs = lazy(() => import('./screens/runs.tsx').then((screen) => screen.Runs));
const Start = lazy(() => import('./screens/start.tsx').then((screen) => screen.Start));
const SystemScreen = lazy(() => import('./screens/system.tsx').then((screen) => screen.SystemScreen));
const WorkflowScreen = lazy(() => import('./screens/workflow.tsx').then((screen) => screen.WorkflowScreen));

/** Links that the browser itself follows: resources of the daemon outside of the page. */
const OUTSIDE = /^(?!api\/|health$|metrics$)/;

/** The page: the top bar, and the screen of the current address. */
export function App() {
  const [failure, setFailure] = useState<unknown>(null);
  return (
    <LocationProvider scope={OUTSIDE}>
      <TopBar />
      <OfflineBar />
      <Announcer />
      <ErrorBoundary onError={setFailure}>
        <Keyboard />
      </ErrorBoundary>
      <main id="main" tabIndex={-1}>
        {failure === null ? (
          <ErrorBoundary onError={setFailure}>
            <SignedIn>
              <Router onRouteChange={focusScreen}>
                <Route path={`${basePath}/`} component={Workflows} />
                <Route path={`${basePath}/runs`} component={Runs} />
                <Route path={`${basePath}/runs/:id`} component={Run} />
                <Route path={`${basePath}/system`} component={SystemScreen} />
                <Route path={`${basePath}/w/:name`} component={WorkflowScreen} />
                <Route path={`${basePath}/w/:name/start`} component={Start} />
                <Route default component={NotFound} />
              </Router>
            </SignedIn>
          </ErrorBoundary>
        ) : (
          <Failure failure={failure} clear={() => setFailure(null)} />
        )}
      </main>
    </LocationProvider>
  );
}

/** A screen that could not be loaded or drawn, until the user retries or goes to another one. */
function Failure({ failure, clear }: { failure: unknown; clear: () => void }) {
  const { url } = useLocation();
  const failed = useRef(url);
  useEffect(() => {
    if (url !== failed.current) clear();
  }, [url]);
  return <ProblemBox what="Error" problem={ApiProblem.of(failure)} retry={clear} />;
}

const LoginScreen = lazy(() => import('./screens/login.tsx').then((screen) => screen.LoginScreen));
const LoginDialog = lazy(() => import('./screens/login.tsx').then((screen) => screen.LoginDialog));

/** The children if the user is logged in, else the login, which covers them if the session ends later. */
function SignedIn({ children }: { children: ComponentChildren }) {
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
  return <LoadingOrProblem what="Login" problem={sessionProblem.value} retry={readSession} />;
}

/** Shown for an unknown address. After a login the daemon itself is asked for it. */
function NotFound() {
  useTitle('Not found');
  useEffect(() => {
    if (hasLoggedInHere) location.reload();
  }, []);
  return (
    <section class="empty">
      <h1>Not found</h1>
      <p>There is no page at this address.</p>
      <p>
        <a href={to.workflows}>All workflows</a> · <a href={to.runs}>All runs</a>
      </p>
    </section>
  );
}
