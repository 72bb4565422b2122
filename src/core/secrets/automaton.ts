/**
 * Finds any of several byte patterns in one pass (Aho and Corasick, 1975). A node stands for the longest suffix of the
 * input that is a prefix of a pattern; node 0 stands for the empty suffix.
 */
export class Automaton {
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
