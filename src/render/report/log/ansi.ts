import { keepColors } from '../../text/sanitize.ts';
import { applySgr, type SgrState } from '../../text/sgr.ts';
import { escapeHtml } from '../html.ts';
import { type AnsiColor, ansiColor } from './ansi-color.ts';

/** Lines of output to markup, one after another: what one leaves switched on is on in the next. */
export type AnsiLines = (line: string) => string;

/** Attributes beside the colours, by the code that switches them on, with their classes in the style sheet. */
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

/**
 * Makes lines of output fit for a page: colours and other attributes (SGR) become spans, every other control sequence is
 * taken out, and text is escaped. A span never reaches over a line end.
 */
export function createAnsiLines(): AnsiLines {
  const open: SgrState = new Map();
  return (line) => {
    const clean = keepColors(line);
    if (open.size === 0 && !clean.includes('\u001b')) return escapeHtml(clean);
    // Every second part is what stood in a sequence.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences themselves
    const parts = clean.split(/\u001b\[([0-9;:]*)m/);
    return parts.map((part, index) => (index % 2 === 0 ? styled(part, open) : apply(part, open))).join('');
  };
}

function apply(codes: string, open: SgrState): string {
  applySgr(codes, open);
  return '';
}

function styled(text: string, open: SgrState): string {
  if (text === '') return '';
  const { classes, styles } = styleOf(open);
  if (classes.length === 0 && styles.length === 0) return escapeHtml(text);
  const className = classes.length === 0 ? '' : ` class="${classes.join(' ')}"`;
  const style = styles.length === 0 ? '' : ` style="${styles.join(';')}"`;
  return `<span${className}${style}>${escapeHtml(text)}</span>`;
}

function styleOf(open: SgrState): { readonly classes: readonly string[]; readonly styles: readonly string[] } {
  const classes = attributes.filter(([code]) => open.has(code)).map(([, name]) => name);
  const styles: string[] = [];
  const paint = (color: AnsiColor | null, className: string, property: string): void => {
    if (color === null) return;
    if ('index' in color) classes.push(`${className}${color.index}`);
    else styles.push(`${property}:${color.hex}`);
  };
  const front = ansiColor(open.get('fg') ?? '');
  const back = ansiColor(open.get('bg') ?? '');
  const isInverse = open.has('7');
  if (isInverse) classes.push('inverse');
  paint(isInverse ? back : front, 'fg', 'color');
  paint(isInverse ? front : back, 'bg', 'background');
  return { classes, styles };
}
