/** A colour of a terminal: one of the sixteen that the page's style sheet names, or any other as `#rrggbb`. */
export type AnsiColor = { readonly index: number } | { readonly hex: string };

/** The steps of the 6 x 6 x 6 cube among the 256 colours, as xterm has them. */
const cubeLevels = [0, 95, 135, 175, 215, 255];

/** The colour that a code sets: `31`, `97`, `48;5;196`, `38;2;1;2;3`, `38:2::1:2:3`. Null where it names none. */
export function ansiColor(code: string): AnsiColor | null {
  const [first = 0, kind, ...numbers] = code.split(/[;:]/).map((text) => (text === '' ? null : Number(text)));
  if (first === null) return null;
  const simple = sixteen(first);
  if (simple !== null) return { index: simple };
  // The form with colons may name a colour space before red, green and blue.
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
