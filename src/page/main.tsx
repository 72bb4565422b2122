import { render } from 'preact';
import { startClock } from './data/clock.ts';
import { applySettings } from './data/settings.ts';
import { App } from './routes.tsx';

applySettings();
startClock();
render(<App />, document.body);
