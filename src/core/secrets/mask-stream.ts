import type { Automaton } from './automaton.ts';

/** Replaces a secret. */
export const mask = '***';

const maskBytes = new TextEncoder().encode(mask);
const nothing = new Uint8Array(0);

/** A range to be masked, counted from the first byte held back; `isShown`: its mask was already written. */
type Range = { start: number; end: number; isShown: boolean };

/**
 * Masks a stream of bytes, however it is cut into chunks. Only bytes that may start a secret are held back until that
 * is known: at most the longest form of a secret without its last byte.
 */
export class MaskStream {
  /** Called for each chunk: a secret may become known while the stream runs. */
  readonly #current: () => Automaton;
  #automaton: Automaton;
  #node = 0;
  #held: Uint8Array = nothing;
  #ranges: Range[] = [];

  constructor(current: () => Automaton) {
    this.#current = current;
    this.#automaton = current();
  }

  /** Returns the bytes that can be written now; may be a view of the chunk. */
  push(chunk: Uint8Array): Uint8Array {
    const known = this.#useCurrent();
    const bytes = this.#held.length === 0 ? chunk : joined([this.#held, chunk]);
    this.#read(bytes, known);
    return this.#giveOut(bytes, bytes.length - this.#automaton.depth(this.#node));
  }

  /** Returns the bytes held back at the end of the stream, which can be used again afterwards. */
  flush(): Uint8Array {
    this.#node = 0;
    return this.#giveOut(this.#held, this.#held.length);
  }

  /** Returns how many of the held bytes the automaton has already read: none if the automaton is new. */
  #useCurrent(): number {
    const current = this.#current();
    if (current === this.#automaton) return this.#held.length;
    this.#automaton = current;
    this.#node = 0;
    // The new automaton finds again what the old one found, and more.
    this.#ranges = this.#ranges.filter(({ isShown }) => isShown);
    return 0;
  }

  #read(bytes: Uint8Array, from: number): void {
    const automaton = this.#automaton;
    let node = this.#node;
    for (let at = from; at < bytes.length; at++) {
      if (node === 0) at = automaton.skip(bytes, at);
      if (at === bytes.length) break;
      node = automaton.next(node, bytes[at] ?? 0);
      const length = automaton.match(node);
      if (length > 0) this.#hide(at + 1 - length, at + 1);
    }
    this.#node = node;
  }

  /** Ranges arrive ordered by their ends. Overlapping ranges are merged. */
  #hide(start: number, end: number): void {
    let last = this.#ranges.at(-1);
    while (last && last.start >= start) {
      this.#ranges.pop();
      last = this.#ranges.at(-1);
    }
    if (last && last.end > start) last.end = Math.max(last.end, end);
    else this.#ranges.push({ start, end, isShown: false });
  }

  /** Returns the bytes up to `settled` and holds the rest back. */
  #giveOut(bytes: Uint8Array, settled: number): Uint8Array {
    this.#held = settled === bytes.length ? nothing : bytes.slice(settled);
    if (this.#ranges.length === 0) return bytes.subarray(0, settled);
    const parts: Uint8Array[] = [];
    let at = 0;
    for (const range of this.#ranges) {
      if (range.start >= settled) break;
      if (range.start > at) parts.push(bytes.subarray(at, range.start));
      if (!range.isShown) parts.push(maskBytes);
      range.isShown = true;
      at = Math.min(range.end, settled);
    }
    parts.push(bytes.subarray(at, settled));
    this.#ranges = this.#ranges.filter(({ end }) => end > settled);
    for (const range of this.#ranges) {
      range.start -= settled;
      range.end -= settled;
    }
    return joined(parts);
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
