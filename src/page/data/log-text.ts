/** Lines of a log that grows, and what is known of the rest. */
export type LogText = {
  /** Where the first line begins in the log, in bytes. */
  readonly from: number;
  /** Bytes read so far, counted from the start of the log. */
  readonly to: number;
  /** Whole lines, and the last one as far as it goes. */
  readonly lines: readonly string[];
};

/** A reader of one log: bytes in, lines out. Bytes that are no UTF-8 become U+FFFD. */
export class LogReader {
  #decoder = new TextDecoder();
  #lines: string[] = [];
  #open = '';
  #from: number;
  #to: number;

  /** `from`: where in the log the first bytes begin; what comes before the first line end is left out, unless it is 0. */
  constructor(from: number) {
    this.#from = from;
    this.#to = from;
  }

  get text(): LogText {
    return {
      from: this.#from,
      to: this.#to,
      lines: this.#open === '' ? [...this.#lines] : [...this.#lines, lastState(this.#open)],
    };
  }

  get to(): number {
    return this.#to;
  }

  /** Adds the bytes that follow. */
  add(bytes: Uint8Array): void {
    let added = bytes;
    if (this.#to === this.#from && this.#from > 0) {
      const end = bytes.indexOf(10) + 1;
      this.#from += end;
      added = bytes.subarray(end);
    }
    this.#to += bytes.length;
    const parts = (this.#open + this.#decoder.decode(added, { stream: true })).split('\n');
    this.#open = parts.pop() ?? '';
    for (const part of parts) this.#lines.push(lastState(part));
  }
}

/** Programs draw over a line with carriage returns: what they left there last is shown. */
function lastState(line: string): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line;
  return text.slice(text.lastIndexOf('\r') + 1);
}
