/** Handles messages one at a time, in order; messages put while one is being read wait. */
export class Mailbox<Message> {
  readonly #read: (message: Message) => void;
  readonly #messages: Message[] = [];
  #isReading = false;

  constructor(read: (message: Message) => void) {
    this.#read = read;
  }

  /** Throws what the reader throws; later messages then stay unread. */
  put(message: Message): void {
    this.#messages.push(message);
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      for (let next = this.#messages.shift(); next; next = this.#messages.shift()) this.#read(next);
    } finally {
      this.#isReading = false;
    }
  }
}
