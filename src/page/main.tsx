import { render } from 'preact';
import { startClock } from './data/clock.ts';
import { startSession } from './data/session.ts';
import { applySettings } from './data/settings.ts';
import { watchLeaving } from './data/workflows/unsaved.ts';
import { keepFocus } from './parts/keep-focus.ts';
import { App } from './routes.tsx';

startSession();
applySettings();
startClock();
watchLeaving();
keepFocus();
render(<App />, document.body);
