/** Handles letters one at a time, in order; letters put while one is being read wait. */
export class Mailbox<Letter> {
  readonly #read: (letter: Letter) => void;
  readonly #letters: Letter[] = [];
  #isReading = false;

  constructor(read: (letter: Letter) => void) {
    this.#read = read;
  }

  /** Throws what the reader throws; later letters then stay unread. */
  put(letter: Letter): void {
    this.#letters.push(letter);
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      for (let next = this.#letters.shift(); next; next = this.#letters.shift()) this.#read(next);
    } finally {
      this.#isReading = false;
    }
  }
}
