import type { Place, Source } from '../../language/diagnostic.ts';
import { fileText, placeText } from '../text/place-text.ts';
import { escapeHtml, type Html, html, trusted } from './html.ts';
import { counted } from './text.ts';

/** Sources up to this many lines are open from the start. */
const mostOpenLines = 250;
/** More text than this is not shown. */
const mostCharacters = 2 * 1024 * 1024;

/** What places in the sources are called and where the page has them. */
export type SourcePlaces = {
  readonly sources: readonly Source[];
  /** Files are named relative to it; null: in full. */
  readonly dir: string | null;
};

/** A place as a link to its line. */
export function placeLink(place: Place, { sources, dir }: SourcePlaces): Html {
  const index = sources.findIndex(({ path }) => path === place.file);
  const text = placeText(place, dir);
  return index === -1
    ? html`<code>${text}</code>`
    : html`<a href="#${lineAnchor(index, place.start.line)}"><code>${text}</code></a>`;
}

/** Every file that the workflow was read from, with numbered lines. */
export function sourcesHtml({ sources, dir }: SourcePlaces): readonly Html[] {
  return sources.map((source, index) => {
    const lines = source.text.slice(0, mostCharacters).replace(/\n$/, '').split(/\r?\n/);
    const numbered = lines.map((line, at) => lineHtml(line, lineAnchor(index, at + 1)));
    const isOpen = index === 0 && lines.length <= mostOpenLines;
    const name = fileText(source.path, dir);
    return html`<details class="source"${trusted(isOpen ? ' open' : '')}>
<summary><code>${name}</code> <span class="quiet">${counted(lines.length, 'line')}</span></summary>
<pre tabindex="0" role="region" aria-label="${name}">${numbered}</pre></details>
`;
  });
}

function lineAnchor(source: number, line: number): string {
  return `l${source + 1}-${line}`;
}

function lineHtml(line: string, anchor: string): Html {
  return html`<span class="line" id="${anchor}">${painted(line)}</span>
`;
}

/** Highlights keys and comments; the rest of YAML cannot be recognised line by line. */
function painted(line: string): Html {
  const [, indent = '', key = '', rest = ''] = /^([\s-]*)([\w.$-]+(?=:(?:\s|$)))?(.*)$/s.exec(line) ?? [];
  const at = commentStart(rest);
  const name = key === '' ? '' : `<span class="key">${escapeHtml(key)}</span>`;
  const comment = at === -1 ? '' : `<span class="comment">${escapeHtml(rest.slice(at))}</span>`;
  return trusted(`${escapeHtml(indent)}${name}${escapeHtml(at === -1 ? rest : rest.slice(0, at))}${comment}`);
}

/** A `#` at the start or after a space begins a comment, unless a quote before it is still open. */
function commentStart(text: string): number {
  const found = /(?:^|\s)#/.exec(text);
  if (found === null) return -1;
  const before = text.slice(0, found.index);
  const isQuoted = (before.split('"').length - 1) % 2 === 1 || (before.split("'").length - 1) % 2 === 1;
  return isQuoted ? -1 : found.index;
}
