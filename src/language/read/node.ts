/** A value as written in a YAML text: what parsing leaves for reading. Offsets count UTF-16 units, `end` is exclusive. */
export type Node = ScalarNode | ListNode | MapNode | AliasNode;

type Placed = {
  readonly start: number;
  readonly end: number;
  /** The name after `&` before the value. */
  readonly anchor: string | undefined;
};

/** A text, or a value that YAML 1.2 distinguishes from text. */
export type ScalarNode = Placed & {
  readonly kind: 'scalar';
  readonly value: unknown;
  /** The text as written, without quotes, escapes and indentation. */
  readonly text: string;
  /** Whether it has no quotes and is no block. */
  readonly isPlain: boolean;
};

/** A list, by indentation or in brackets. */
export type ListNode = Placed & { readonly kind: 'list'; readonly items: readonly Node[] };

/** A map, by indentation or in braces; keys may occur twice. */
export type MapNode = Placed & { readonly kind: 'map'; readonly entries: readonly MapEntry[] };

/** An entry of a map; null where nothing is written, not even an empty value. */
export type MapEntry = { readonly key: Node | null; readonly value: Node | null };

/** A reference to a value with an anchor. */
export type AliasNode = Placed & { readonly kind: 'alias'; readonly name: string };

/** The text of a scalar as written in the file, without its quotes. */
export function textOf({ value, text }: ScalarNode): string {
  return typeof value === 'string' ? value : text;
}
