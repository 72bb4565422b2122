import { render } from 'preact';
import { startSession } from './data/login-session.ts';
import { applySettings } from './data/page-settings.ts';
import { watchLeaving } from './data/workflows/unsaved.ts';
import { keepFocus } from './parts/screen.tsx';
import { startClock } from './parts/time.tsx';
import { App } from './routes.tsx';

startSession();
applySettings();
startClock();
watchLeaving();
keepFocus();
render(<App />, document.body);
