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
    return masked.includes(MASK) ? masked : text;
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

/** Minimum length of a masked text, in characters: anything shorter would match ordinary output all the time. */
const SHORTEST_SECRET = 4;

/** Column widths at which tools wrap base64: MIME and coreutils, PEM and openssl. */
const lineWidths = [76, 64] as const;

/**
 * Every form in which a secret is searched for: the whole value and each of its lines, both plain and in the usual
 * encodings (base64 at any offset in a longer text, base64url, URL, JSON, quoted for a shell or for YAML).
 */
function secretForms(value: string): ReadonlySet<string> {
  const plain = [value, ...value.split(/\r?\n/)].map((text) => text.trim());
  const forms = [value, ...plain].flatMap((text) => [
    text,
    ...base64Forms(text),
    ...urlForms(text),
    ...jsonForms(text),
    ...quotedForms(text),
  ]);
  return new Set(forms.filter((form) => form.length >= SHORTEST_SECRET));
}

/** Whether any part of the value is long enough to be masked. */
function canBeMasked(value: string): boolean {
  return value.split(/\r?\n/).some((line) => line.trim().length >= SHORTEST_SECRET);
}

/** Three bytes make four characters, so the offset of a value gives three encodings of it, each with undefined ends. */
function base64Forms(text: string): readonly string[] {
  if (text.length < SHORTEST_SECRET) return [];
  const bytes = [...encoder.encode(text)];
  const inside = [0, 1, 2].map((shift) =>
    base64([...Array.from({ length: shift }, () => 0), ...bytes]).slice(
      Math.ceil((shift * 4) / 3),
      Math.floor(((shift + bytes.length) * 4) / 3),
    ),
  );
  const alone = [base64(bytes), base64([...bytes, 0x0a])];
  const lines = alone.flatMap((encoded) => lineWidths.flatMap((width) => broken(encoded, width)));
  return [...inside, ...alone, ...lines].flatMap((form) => [form, base64url(form)]);
}

function base64(bytes: readonly number[]): string {
  return btoa(bytes.map((byte) => String.fromCharCode(byte)).join(''));
}

function base64url(encoded: string): string {
  return encoded.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function broken(encoded: string, width: number): readonly string[] {
  return encoded.length <= width ? [] : (encoded.match(new RegExp(`.{1,${width}}`, 'g')) ?? []);
}

/** Characters that different encoders leave as they are, besides letters and digits. */
const unreserved = ['-_.~', '-_.~/', "-_.!~*'()", "-_.!~*'();/?:@&=+$,#", '*-._'] as const;

function urlForms(text: string): readonly string[] {
  return unreserved.flatMap((kept) => {
    const encoded = percentEncoded(text, kept);
    const lower = encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
    return [encoded, lower].flatMap((form) => [form, form.replaceAll('%20', '+')]);
  });
}

function percentEncoded(text: string, kept: string): string {
  return [...encoder.encode(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      const isKept = /[A-Za-z0-9]/.test(character) || kept.includes(character);
      return isKept ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}

/** As different writers escape it, and once more for JSON inside a JSON string. */
function jsonForms(text: string): readonly string[] {
  const escaped = JSON.stringify(text).slice(1, -1);
  const slashes = escaped.replaceAll('/', '\\/');
  const html = escaped.replace(/[<>&]/g, unicodeEscape);
  const forms = [escaped, slashes, html, ...[escaped, slashes, html].flatMap(asciiForms)];
  return [...forms, JSON.stringify(escaped).slice(1, -1)];
}

function asciiForms(text: string): readonly string[] {
  const lower = text.replace(/[\u0080-\uffff]/g, unicodeEscape);
  return [lower, lower.replace(/\\u[0-9a-f]{4}/g, (code) => `\\u${code.slice(2).toUpperCase()}`)];
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** As shells print a word under `set -x`, and as YAML writes it between single quotes. */
function quotedForms(text: string): readonly string[] {
  if (!/['"\\$`]/.test(text)) return [];
  const inDoubleQuotes = text.replace(/["\\$`]/g, '\\$&');
  return [text.replaceAll("'", "'\\''"), text.replaceAll("'", `'"'"'`), text.replaceAll("'", "''"), inDoubleQuotes];
}

/**
 * Finds any of several byte patterns in one pass (Aho and Corasick, 1975). A node stands for the longest suffix of the
 * input that is a prefix of a pattern; node 0 stands for the empty suffix.
 */
class Automaton {
  readonly #byte: number[] = [0];
  readonly #firstChild: number[] = [0];
  readonly #sibling: number[] = [0];
  readonly #fail: number[] = [0];
  readonly #depth: number[] = [0];
  readonly #match: number[] = [0];
  /** Transitions from the root, which nearly all bytes of ordinary output take. */
  readonly #fromRoot = new Int32Array(256);

  constructor(patterns: Iterable<Uint8Array>) {
    for (const pattern of patterns) this.#insert(pattern);
    this.#linkFailures();
  }

  /** The node after one more byte. */
  next(node: number, byte: number): number {
    for (let from = node; from !== 0; from = this.#fail[from] ?? 0) {
      const found = this.#child(from, byte);
      if (found !== 0) return found;
    }
    return this.#fromRoot[byte] ?? 0;
  }

  /** The first index from `at` on whose byte starts a pattern. */
  skip(bytes: Uint8Array, at: number): number {
    const fromRoot = this.#fromRoot;
    let next = at;
    while (next < bytes.length && fromRoot[bytes[next] ?? 0] === 0) next++;
    return next;
  }

  /** Number of bytes at the end of the input that may be the start of a pattern. */
  depth(node: number): number {
    return this.#depth[node] ?? 0;
  }

  /** The length of the longest pattern that ends here; 0 if none does. */
  match(node: number): number {
    return this.#match[node] ?? 0;
  }

  #insert(pattern: Uint8Array): void {
    let node = 0;
    for (const byte of pattern) {
      const known = node === 0 ? (this.#fromRoot[byte] ?? 0) : this.#child(node, byte);
      node = known === 0 ? this.#add(node, byte) : known;
    }
    this.#match[node] = pattern.length;
  }

  #add(parent: number, byte: number): number {
    const node = this.#byte.push(byte) - 1;
    this.#firstChild.push(0);
    this.#sibling.push(this.#firstChild[parent] ?? 0);
    this.#fail.push(0);
    this.#depth.push(this.depth(parent) + 1);
    this.#match.push(0);
    this.#firstChild[parent] = node;
    if (parent === 0) this.#fromRoot[byte] = node;
    return node;
  }

  #child(node: number, byte: number): number {
    let child = this.#firstChild[node] ?? 0;
    while (child !== 0 && this.#byte[child] !== byte) child = this.#sibling[child] ?? 0;
    return child;
  }

  /** Level by level, since a failure link always leads closer to the root. */
  #linkFailures(): void {
    const level = [0];
    for (const node of level) {
      for (let child = this.#firstChild[node] ?? 0; child !== 0; child = this.#sibling[child] ?? 0) {
        const fail = node === 0 ? 0 : this.next(this.#fail[node] ?? 0, this.#byte[child] ?? 0);
        this.#fail[child] = fail;
        this.#match[child] ||= this.match(fail);
        level.push(child);
      }
    }
  }
}

/** Replaces a secret. */
export const MASK = '***';

const maskBytes = new TextEncoder().encode(MASK);
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
