import { readableScale, zoomable } from './graph/zoom.ts';
import { copyText } from './log/copy-text.ts';

/** The script of the report. It is convenience only: without it the report shows everything too. */

const all = <Kind extends HTMLElement>(selector: string) => [...document.querySelectorAll<Kind>(selector)];

/** Opens what the address names. */
function reveal(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let part = target?.closest('details'); part; part = part.parentElement?.closest('details')) part.open = true;
  target?.scrollIntoView();
}

const make = document.createElement.bind(document);
const set = Object.assign;

function button(textContent: string, onclick: () => void): HTMLButtonElement {
  return set(make('button'), { type: 'button', textContent, onclick });
}

addEventListener('hashchange', reveal);
addEventListener('click', ({ target }) => {
  if ((target as Element).closest('a')?.getAttribute('href') === location.hash) reveal();
});
reveal();

const steps = all<HTMLDetailsElement>('.step');
const search = set(make('input'), { type: 'search', placeholder: 'Find a step', oninput: filter });
search.ariaLabel = search.placeholder;
const select = set(make('select'), { ariaLabel: 'Status', onchange: filter });
select.append(new Option('every status', ''));
const words = new Map(steps.map((step) => [step.dataset['status'], step.querySelector('title')?.textContent ?? '']));
for (const [status, word] of words) select.append(new Option(word, status));
function filter(): void {
  const wanted = search.value.trim().toLowerCase();
  for (const row of all('[data-name]')) {
    const { name = '', status } = row.dataset;
    row.hidden = !name.toLowerCase().includes(wanted) || (select.value !== '' && status !== select.value);
  }
}

function openAll(isOpen: boolean): void {
  for (const step of steps) if (!step.hidden) step.open = isOpen;
}

// Times are written for the place where the report was made. A click shows them in UTC, then as for the reader. Those of lines
// are in `data-t`, for the style sheet.
const times = all<HTMLTimeElement>('time').map((time) => [time, time.textContent || time.dataset['t'] || ''] as const);
const zones = ['as written', 'UTC', 'local'];
let shown = 0;
const zone = button('Times: as written', () => {
  shown = (shown + 1) % zones.length;
  zone.textContent = `Times: ${zones[shown]}`;
  for (const [time, written] of times) {
    const at = new Date(time.dateTime);
    if (shown === 2) at.setMinutes(at.getMinutes() - at.getTimezoneOffset());
    const text = at.toISOString().replace('T', ' ');
    const day = text.slice(0, 19) + (shown === 1 ? ' UTC' : '');
    const clock = written.length > 10 ? day : text.slice(11, 11 + written.length);
    const chosen = shown === 0 ? written : clock;
    time.dataset['t'] = chosen;
    time.textContent &&= chosen;
  }
});

const tools = document.querySelector<HTMLElement>('.tools');
if (tools !== null) {
  const both = [true, false].map((isOpen) => button(`${isOpen ? 'Open' : 'Close'} all`, () => openAll(isOpen)));
  tools.prepend(search, select, ...both, zone);
  tools.hidden = false;
}

for (const log of all('.log')) {
  const copy = button('Copy', async () => {
    copy.textContent = (await copyText(log.textContent ?? '')) ? 'Copied' : 'Refused';
  });
  copy.className = 'copy';
  log.before(copy);
}

const area = document.querySelector<HTMLElement>('.canvas');
const svg = area?.querySelector('svg');
if (area && svg) {
  const size = svg.viewBox.baseVal;
  const zoom = zoomable(area, svg, size, new AbortController().signal);
  zoom.zoomTo(readableScale(area, size));
  const bar = set(make('div'), { className: 'zoom' });
  bar.append(
    button('Fit', zoom.fit),
    button('100 %', () => zoom.zoomTo(1)),
  );
  const failed = svg.querySelector('a.failed');
  if (failed) bar.append(button('Failed', () => failed.scrollIntoView({ block: 'nearest', inline: 'center' })));
  area.before(bar);
}
