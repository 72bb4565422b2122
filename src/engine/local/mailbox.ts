/** Takes letters one at a time and in order: those that come while one is read wait for that. */
export class Mailbox<Letter> {
  readonly #read: (letter: Letter) => void;
  readonly #letters: Letter[] = [];
  #isReading = false;

  constructor(read: (letter: Letter) => void) {
    this.#read = read;
  }

  /** Throws what reading throws; then the letters behind stay unread. */
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
