import { render } from 'preact';
import { startClock } from './data/clock.ts';
import { startSession } from './data/session.ts';
import { applySettings } from './data/settings.ts';
import { watchLeaving } from './data/workflows/unsaved.ts';
import { App } from './routes.tsx';

startSession();
applySettings();
startClock();
watchLeaving();
render(<App />, document.body);
