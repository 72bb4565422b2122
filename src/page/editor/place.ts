/** One part of a path in a YAML text. */
export type PathStep = {
  /** The key of a map; null: an entry of a list. */
  readonly key: string | null;
  /** The other keys of that map, with the texts of their values. */
  readonly beside: ReadonlyMap<string, string>;
};

/** A location in a YAML text, in block style or in a value in flow style. */
export type YamlPlace = {
  /**
   * `key`: a key of the map at the path, or a text if the path ends in a list; `value`: the value at the path; `entry`:
   * the start of an entry of the list at the path.
   */
  readonly kind: 'key' | 'value' | 'entry';
  readonly path: readonly PathStep[];
  /** The other keys of the map at the path, with the texts of their values. */
  readonly present: ReadonlyMap<string, string>;
  /** The start column of the word, from 0. */
  readonly from: number;
  /** Present in a map or a list in flow style. */
  readonly isFlow?: true;
};
