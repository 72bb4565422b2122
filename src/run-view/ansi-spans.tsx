import type { JSX } from 'preact';
import { given } from '#core/data/collections.ts';
import { applySgr, keepColors, type SgrState } from '#render/text.ts';

/** A part of a line with one style. Colours that have no class in the style sheet are `#rrggbb`; null: none. */
export type AnsiSpan = {
  readonly text: string;
  readonly classes: readonly string[];
  readonly color: string | null;
  readonly background: string | null;
  /** The target of a link in the output: `http` or `https` only. */
  readonly href?: string;
};

/** Converts lines of output to spans, one after another: attributes stay active in the following lines. */
export type AnsiSpans = (line: string) => readonly AnsiSpan[];

/** Attributes other than colours, by the code that activates them, with their classes in the style sheet. */
const attributes: readonly (readonly [code: string, name: string])[] = [
  ['1', 'bold'],
  ['2', 'dim'],
  ['3', 'italic'],
  ['4', 'under'],
  ['21', 'under'],
  ['8', 'conceal'],
  ['9', 'strike'],
  ['53', 'over'],
];

/** Links (OSC 8); the address is the first group. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences themselves
const LINKS = /\u001b\]8;[^;\u0007\u001b]*;([^\u0007\u001b]*)(?:\u0007|\u001b\\)/;

/** Parses colours, other attributes (SGR) and links of lines; all other control sequences are removed. */
export function createAnsiSpans(): AnsiSpans {
  const spansOf = createColorSpans();
  return (line) => {
    if (!line.includes('\u001b]8;')) return spansOf(line);
    let href = '';
    // Every second part is an address. A link ends with its line.
    return line.split(LINKS).flatMap((part, index) => {
      if (index % 2 === 0) return href === '' ? spansOf(part) : spansOf(part).map((span) => ({ ...span, href }));
      href = /^https?:\/\/[\x21-\x7e]+$/i.test(part) ? part : '';
      return [];
    });
  };
}

function createColorSpans(): AnsiSpans {
  const open: SgrState = new Map();
  return (line) => {
    const clean = keepColors(line);
    if (open.size === 0 && !clean.includes('\u001b')) return clean === '' ? [] : [plain(clean)];
    // Every second part is what stood in a sequence.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences themselves
    const parts = clean.split(/\u001b\[([0-9;:]*)m/);
    return parts.flatMap((part, index) => {
      if (index % 2 === 1) applySgr(part, open);
      return index % 2 === 1 || part === '' ? [] : [{ text: part, ...lookOf(open) }];
    });
  };
}

function plain(text: string): AnsiSpan {
  return { text, classes: [], color: null, background: null };
}

function lookOf(open: SgrState): Omit<AnsiSpan, 'text'> {
  const classes = attributes.filter(([code]) => open.has(code)).map(([, name]) => name);
  const isInverse = open.has('7');
  if (isInverse) classes.push('inverse');
  const front = ansiColor(open.get('fg') ?? '');
  const back = ansiColor(open.get('bg') ?? '');
  const paint = (color: AnsiColor | null, className: string): string | null => {
    if (color !== null && 'index' in color) classes.push(`${className}${color.index}`);
    return color !== null && 'hex' in color ? color.hex : null;
  };
  const color = paint(isInverse ? back : front, 'fg');
  return { classes, color, background: paint(isInverse ? front : back, 'bg') };
}

/** A terminal colour: one of the sixteen in the style sheet, or any other as `#rrggbb`. */
type AnsiColor = { readonly index: number } | { readonly hex: string };

/** The levels of the 6 x 6 x 6 cube of the 256 colours, as in xterm. */
const cubeLevels = [0, 95, 135, 175, 215, 255];

/** The colour set by a code: `31`, `97`, `48;5;196`, `38;2;1;2;3`, `38:2::1:2:3`. Null if the code sets none. */
function ansiColor(code: string): AnsiColor | null {
  const [first = 0, kind, ...numbers] = code.split(/[;:]/).map((text) => (text === '' ? null : Number(text)));
  if (first === null) return null;
  const simple = sixteen(first);
  if (simple !== null) return { index: simple };
  // The form with colons may contain a colour space before red, green and blue.
  if (kind === 2) return rgb(numbers.slice(-3));
  return kind === 5 ? ofPalette(numbers[0] ?? 0) : null;
}

function sixteen(code: number): number | null {
  if (code >= 30 && code <= 37) return code - 30;
  if (code >= 40 && code <= 47) return code - 40;
  if (code >= 90 && code <= 97) return code - 82;
  return code >= 100 && code <= 107 ? code - 92 : null;
}

function ofPalette(index: number): AnsiColor | null {
  if (index > 255) return null;
  if (index < 16) return { index };
  if (index >= 232) return rgb([8 + (index - 232) * 10, 8 + (index - 232) * 10, 8 + (index - 232) * 10]);
  const cell = index - 16;
  return rgb([Math.floor(cell / 36), Math.floor(cell / 6) % 6, cell % 6].map((level) => cubeLevels[level] ?? 0));
}

function rgb(levels: readonly (number | null)[]): AnsiColor | null {
  if (levels.length !== 3 || levels.some((level) => (level ?? 0) > 255)) return null;
  return { hex: `#${levels.map((level) => (level ?? 0).toString(16).padStart(2, '0')).join('')}` };
}

/** The coloured parts of a line. */
export function Spans({ spans }: { spans: readonly AnsiSpan[] }) {
  return <>{spans.map(part)}</>;
}

function part({ href, ...span }: AnsiSpan, index: number): JSX.Element | string {
  if (href === undefined) return colored(span, index);
  return (
    <a key={index} href={href} target="_blank" rel="noopener noreferrer">
      {colored(span, index)}
    </a>
  );
}

function colored({ text, classes, color, background }: AnsiSpan, index: number): JSX.Element | string {
  if (classes.length === 0 && color === null && background === null) return text;
  const style = given({ color, background });
  return (
    <span key={index} class={classes.join(' ') || undefined} style={style}>
      {text}
    </span>
  );
}
