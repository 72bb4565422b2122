import { Automaton } from './automaton.ts';
import { canBeMasked, secretForms } from './forms.ts';
import { MaskStream, mask } from './mask-stream.ts';

const encoder = new TextEncoder();

/** The values to be masked, collected as they become known. A run and its sub-runs share one collection. */
export class Secrets {
  readonly #values = new Set<string>();
  readonly #forms = new Set<string>();
  #automaton: Automaton | null = null;

  /** Returns false for a value too short to be masked. An empty value is not a secret. */
  add(value: string): boolean {
    if (value === '' || this.#values.has(value)) return true;
    if (!canBeMasked(value)) return false;
    this.#values.add(value);
    for (const form of secretForms(value)) this.#forms.add(form);
    this.#automaton = null;
    return true;
  }

  /** A separate collection that starts with the same values. */
  copy(): Secrets {
    const copy = new Secrets();
    for (const value of this.#values) copy.add(value);
    return copy;
  }

  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  /** Replaces every secret in the text; returns the same text if it contains none. */
  mask(text: string): string {
    if (this.isEmpty || text === '') return text;
    const stream = this.stream();
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const start = decoder.decode(stream.push(encoder.encode(text)), { stream: true });
    const masked = start + decoder.decode(stream.flush());
    return masked.includes(mask) ? masked : text;
  }

  /** Masks the bytes of one stream, including values that are added later. */
  stream(): MaskStream {
    return new MaskStream(() => this.#current());
  }

  #current(): Automaton {
    this.#automaton ??= new Automaton([...this.#forms].map((form) => encoder.encode(form)));
    return this.#automaton;
  }
}
