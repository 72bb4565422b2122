/** A terminal as it would look: knows the few sequences that `wf` may send and refuses every other one. */
export class VirtualScreen {
  /** Everything that was ever on the screen, from the first line; those above the window can no longer be reached. */
  readonly #lines: string[] = [''];
  readonly #pushesRows: boolean;
  #columns: number;
  #rows: number;
  #row = 0;
  #column = 0;
  #top = 0;
  isCursorVisible = true;
  /** The title of the window, and whether it was kept to be given back. */
  title: string | null = null;
  keepsTitle = false;
  /** State and percent of OSC 9;4. */
  progress = '0;0';
  /** How often something was written. */
  writes = 0;

  /** `pushesRows`: like tmux, moves a row to the history for each row that wrapping adds, even if there is room. */
  constructor(columns: number, rows: number, pushesRows = false) {
    this.#pushesRows = pushesRows;
    this.#columns = columns;
    this.#rows = rows;
  }

  readonly size = () => ({ columns: this.#columns, rows: this.#rows });

  readonly write = (text: string | Uint8Array): void => {
    this.writes++;
    const all = typeof text === 'string' ? text : Buffer.from(text).toString('utf8');
    for (const [token] of all.matchAll(tokens)) this.#take(token);
  };

  /** Changes the width and wraps long lines again, like a terminal; the cursor stays with its character. */
  resize(columns: number, rows: number): void {
    const rowsBelow = this.#lines.length - this.#row;
    const broken = this.#lines.flatMap((line) => breakLine(line, columns));
    const pushed = this.#pushesRows ? this.#top + broken.length - this.#lines.length : 0;
    this.#lines.splice(0, this.#lines.length, ...broken);
    this.#row = this.#lines.length - rowsBelow;
    this.#columns = columns;
    this.#rows = rows;
    this.#top = Math.max(0, pushed, this.#row - rows + 1);
  }

  /** All lines, those that have scrolled out first, without empty ones at the end. */
  text(): string {
    return this.#lines
      .map((line) => line.trimEnd())
      .join('\n')
      .trimEnd();
  }

  /** The lines in the window. */
  window(): readonly string[] {
    return this.#lines.slice(this.#top, this.#top + this.#rows).map((line) => line.trimEnd());
  }

  #take(token: string): void {
    if (token === '\n') this.#lineFeed();
    else if (token === '\r') this.#column = 0;
    else if (token === '\u001b[J') this.#eraseBelow();
    else if (token === '\u001b[K') this.#put(this.#line().slice(0, this.#column));
    else if (token === '\u001b[?25l') this.isCursorVisible = false;
    else if (token === '\u001b[?25h') this.isCursorVisible = true;
    else if (token === '\u001b[22;0t') this.keepsTitle = true;
    else if (token === '\u001b[23;0t') this.keepsTitle = false;
    else if (token.startsWith('\u001b]0;')) this.title = token.slice(4, -1);
    else if (token.startsWith('\u001b]9;4;')) this.progress = token.slice(6, -1);
    else if (token === '\u001b[C') this.#column = Math.min(this.#column + 1, this.#columns - 1);
    else if (token.endsWith('A') && token.startsWith('\u001b[')) this.#up(Number.parseInt(token.slice(2), 10));
    else if (token.endsWith('m') && token.startsWith('\u001b[')) return;
    else if (token.startsWith('\u001b')) throw new Error(`The terminal was sent ${JSON.stringify(token)}.`);
    else this.#print(token);
  }

  #print(character: string): void {
    if (this.#column === this.#columns) this.#lineFeed();
    const line = this.#line().padEnd(this.#column);
    this.#put(line.slice(0, this.#column) + character + line.slice(this.#column + 1));
    this.#column++;
  }

  #lineFeed(): void {
    this.#row++;
    this.#column = 0;
    if (this.#row === this.#lines.length) this.#lines.push('');
    this.#top = Math.max(this.#top, this.#row - this.#rows + 1);
  }

  #up(rows: number): void {
    this.#row = Math.max(this.#top, this.#row - rows);
  }

  /** An erasure of the whole window moves its lines to the history, as in tmux. */
  #eraseBelow(): void {
    if (this.#row === this.#top && this.#column === 0 && this.window().some((line) => line !== '')) {
      this.#row = this.#lines.length;
      this.#top = this.#row;
    }
    this.#put(this.#line().slice(0, this.#column));
    this.#lines.length = this.#row + 1;
  }

  #line(): string {
    return this.#lines[this.#row] ?? '';
  }

  #put(line: string): void {
    this.#lines[this.#row] = line;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences themselves
const tokens = /\u001b\][^\u0007]*\u0007|\u001b\[[0-?]*[ -/]*[@-~]|\u001b.?|[\s\S]/gu;

function breakLine(line: string, columns: number): string[] {
  const parts: string[] = [];
  for (let at = 0; at === 0 || at < line.length; at += columns) parts.push(line.slice(at, at + columns));
  return parts;
}
