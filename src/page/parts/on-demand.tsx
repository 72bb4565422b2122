import type { ComponentType, FunctionComponent } from 'preact';
import { ErrorBoundary, lazy } from 'preact-iso';

/** A component that is loaded when it is first drawn; until then its place is empty. */
export function onDemand<Props extends object>(load: () => Promise<ComponentType<Props>>): FunctionComponent<Props> {
  const Part = lazy(load);
  return (props) => (
    <ErrorBoundary>
      <Part {...props} />
    </ErrorBoundary>
  );
}
