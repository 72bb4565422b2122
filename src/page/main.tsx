import { render } from 'preact';
import { startClock } from './data/clock.ts';
import { readDaemonInfo } from './data/daemon.ts';
import { applySettings } from './data/settings.ts';
import { App } from './routes.tsx';

applySettings();
startClock();
void readDaemonInfo();
render(<App />, document.body);
