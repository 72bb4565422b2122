import { useLocation } from 'preact-iso';
import { StatusIcon } from '#run-view/components.ts';
import { pathOf, to } from '../api/address.ts';
import { isOffline, lastAnswerAt } from '../data/connection.ts';
import { daemonStatus, isReadOnly, logOut, session } from '../data/login-session.ts';
import { isUtc, nextTheme, switchZone, theme } from '../data/page-settings.ts';
import { Button, Menu, type MenuItem } from './controls.tsx';
import { openKeyHelp, openPalette } from './keys/keyboard.tsx';
import { momentText } from './time.tsx';

/** The screens, and what the addresses of each and of those below it begin with. */
const screens = [
  { name: 'Workflows', address: to.workflows, below: 'w/' },
  { name: 'Runs', address: to.runs, below: to.runs },
  { name: 'System', address: to.system, below: to.system },
] as const;

/** The bar above every screen. */
export function TopBar() {
  const { path } = useLocation();
  const home = pathOf(to.workflows).replace(/\/$/, '') || '/';
  const isCurrent = ({ address, below }: (typeof screens)[number]) =>
    path.startsWith(pathOf(below)) || (address === to.workflows && path === home);
  return (
    <header class="top-bar">
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <a class="brand" href={to.workflows}>
        wf
      </a>
      {session.value !== null && (
        <nav aria-label="Screens">
          {screens.map((screen) => (
            <a key={screen.name} href={screen.address} aria-current={isCurrent(screen) ? 'page' : undefined}>
              {screen.name}
            </a>
          ))}
        </nav>
      )}
      <span class="space" />
      <Waiting />
      {isReadOnly.value && <span class="quiet read-only">read-only</span>}
      <span class="bar-controls">
        {session.value !== null && (
          <button type="button" class="search-button" onClick={openPalette}>
            Go to <kbd>Ctrl K</kbd>
          </button>
        )}
        <Button
          class="plain"
          text={isUtc.value ? 'UTC' : 'Local time'}
          title="Times: local or UTC"
          onClick={switchZone}
        />
        <Button
          class="plain"
          text={themeNames[theme.value]}
          title="Colours: of the system, light, dark or high contrast"
          onClick={nextTheme}
        />
        <Button class="plain" text="?" aria-label="Keys" title="Keys" onClick={openKeyHelp} />
        <LoggedIn />
      </span>
      <span class="bar-menu">
        <Menu label="More" items={menuItems()} />
      </span>
    </header>
  );
}

/** The number of runs that wait for approval, as a link to them. */
function Waiting() {
  const count = daemonStatus.value?.awaitingApproval ?? 0;
  if (session.value === null || count === 0) return null;
  return (
    <a class="waiting-runs" href={to.runsAwaitingApproval} title="Runs that wait for approval">
      <StatusIcon look={{ kind: 'approval', word: 'awaiting approval' }} />
      {count.toLocaleString('en')}
      <span class="wide">{count === 1 ? 'waits' : 'wait'} for you</span>
    </a>
  );
}

/** The controls of the bar on narrow screens. */
function menuItems(): readonly MenuItem[] {
  const { name = null, csrf = null } = session.value ?? {};
  const userText = name === null ? 'Log out' : `Log out ${name}`;
  return [
    ...(session.value === null ? [] : [{ text: 'Go to', act: openPalette }]),
    { text: `Times: ${isUtc.value ? 'UTC' : 'local'}`, act: switchZone },
    { text: `Colours: ${themeNames[theme.value].toLowerCase()}`, act: nextTheme },
    { text: 'Keys', act: openKeyHelp },
    ...(csrf === null ? [] : [{ text: userText, act: endSession, isDisabled: isOffline.value }]),
  ];
}

function endSession(): void {
  void logOut().catch(() => {});
}

/** The user, and the logout. Programs that log in with each request have neither. */
function LoggedIn() {
  const { name = null, csrf = null } = session.value ?? {};
  if (csrf === null) return null;
  return (
    <>
      {name !== null && <bdi class="quiet user">{name}</bdi>}
      <Button class="plain" text="Log out" disabled={isOffline.value} onClick={endSession} />
    </>
  );
}

const themeNames = { system: 'Auto', light: 'Light', dark: 'Dark', contrast: 'Contrast' } as const;

/** Shows since when the daemon has not responded. */
export function OfflineBar() {
  if (!isOffline.value) return null;
  return (
    <div class="offline" role="status">
      Offline, shown as of {momentText(new Date(lastAnswerAt.value).toISOString()).slice(11)}
    </div>
  );
}
