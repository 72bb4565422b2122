import { readableScale, zoomable } from './graph/zoom.ts';

/** The script of the report. It is convenience only: without it the report shows everything too. */

const all = <Kind extends HTMLElement>(selector: string) => [...document.querySelectorAll<Kind>(selector)];

/** Opens what the address names. */
function reveal(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let part = target?.closest('details'); part; part = part.parentElement?.closest('details')) part.open = true;
  target?.scrollIntoView();
}

function button(text: string, act: () => void): HTMLButtonElement {
  const made = Object.assign(document.createElement('button'), { type: 'button', textContent: text });
  made.addEventListener('click', act);
  return made;
}

addEventListener('hashchange', reveal);
addEventListener('click', ({ target }) => {
  const link = target instanceof Element ? target.closest('a[href^="#"]') : null;
  if (link?.getAttribute('href') === location.hash) reveal();
});
reveal();

const steps = all<HTMLDetailsElement>('.step');
const search = Object.assign(document.createElement('input'), { type: 'search', placeholder: 'Find a step' });
search.ariaLabel = 'Find a step by its name';
const select = document.createElement('select');
select.ariaLabel = 'Only steps of a status';
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
search.addEventListener('input', filter);
select.addEventListener('change', filter);

function openAll(isOpen: boolean): void {
  for (const step of steps) if (!step.hidden) step.open = isOpen;
}

const label = document.createElement('label');
const wrap = Object.assign(document.createElement('input'), { type: 'checkbox' });
label.append(wrap, ' Wrap long lines');
wrap.addEventListener('change', () => document.body.classList.toggle('wrap', wrap.checked));

// Times are written for the place where the report was made. A click shows them in UTC, then as for the reader.
const times = all<HTMLTimeElement>('time').map((time) => ({ time, written: time.textContent ?? '' }));
const zones = ['as written', 'UTC', 'local'];
let shown = 0;
const zone = button('Times: as written', () => {
  shown = (shown + 1) % zones.length;
  zone.textContent = `Times: ${zones[shown]}`;
  for (const { time, written } of times) {
    const at = new Date(time.dateTime);
    const shift = shown === 2 ? at.getTimezoneOffset() * 60_000 : 0;
    const text = new Date(at.getTime() - shift).toISOString().slice(0, 19).replace('T', ' ');
    time.textContent = shown === 0 ? written : written.length > 8 ? text + (shown === 1 ? ' UTC' : '') : text.slice(11);
  }
});

const tools = document.querySelector<HTMLElement>('.tools');
if (tools !== null) {
  const buttons = [button('Open all', () => openAll(true)), button('Close all', () => openAll(false)), zone];
  tools.append(search, select, ...buttons, label);
  tools.hidden = false;
}

for (const log of all('.log')) {
  log.before(button('Copy', () => void navigator.clipboard.writeText(log.textContent ?? '')));
  log.previousElementSibling?.classList.add('copy');
}

const area = document.querySelector<HTMLElement>('.canvas');
const svg = area?.querySelector('svg');
if (area && svg) {
  const { width, height } = svg.viewBox.baseVal;
  const zoom = zoomable(area, svg, { width, height }, new AbortController().signal);
  zoom.zoomTo(readableScale(area, { width, height }));
  const bar = document.createElement('div');
  bar.className = 'zoom';
  bar.append(
    button('Fit', zoom.fit),
    button('100 %', () => zoom.zoomTo(1)),
  );
  const failed = svg.querySelector('a.failed');
  if (failed) bar.append(button('Failed', () => failed.scrollIntoView({ block: 'nearest', inline: 'center' })));
  area.before(bar);
}
