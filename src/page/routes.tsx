import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ErrorBoundary, LocationProvider, lazy, Route, Router, useLocation } from 'preact-iso';
import { basePath } from './api/address.ts';
import { ApiProblem } from './api/problem.ts';
import { Announcer } from './parts/announcer.tsx';
import { focusScreen } from './parts/focus-screen.ts';
import { Keyboard } from './parts/keys/keyboard.tsx';
import { ProblemBox } from './parts/problem-box.tsx';
import { SignedIn } from './parts/signed-in.tsx';
import { OfflineBar, TopBar } from './parts/top-bar.tsx';
import { NotFound } from './screens/not-found.tsx';
import { Workflows } from './screens/workflows.tsx';

const Run = lazy(() => import('./screens/run/run.tsx').then((screen) => screen.Run));
const Runs = lazy(() => import('./screens/runs.tsx').then((screen) => screen.Runs));
const Start = lazy(() => import('./screens/start.tsx').then((screen) => screen.Start));
const System = lazy(() => import('./screens/system.tsx').then((screen) => screen.System));
const WorkflowScreen = lazy(() => import('./screens/workflow.tsx').then((screen) => screen.WorkflowScreen));

/** Links that the browser itself follows: resources of the daemon outside of the page. */
const outside = /^(?!api\/|health$|metrics$)/;

/** The page: the top bar, and the screen of the current address. */
export function App(): JSX.Element {
  const [failure, setFailure] = useState<unknown>(null);
  return (
    <LocationProvider scope={outside}>
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
                <Route path={`${basePath}/system`} component={System} />
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
function Failure({ failure, clear }: { failure: unknown; clear: () => void }): JSX.Element {
  const { url } = useLocation();
  const failed = useRef(url);
  useEffect(() => {
    if (url !== failed.current) clear();
  }, [url]);
  return <ProblemBox what="Error" problem={ApiProblem.of(failure)} retry={clear} />;
}
