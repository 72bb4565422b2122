/** A step from a map or a list to a value in it. */
export type PathStep = {
  /** The key of a map; null: an entry of a list. */
  readonly key: string | null;
  /** The keys of that map that are above the place or beside it, with the texts of their values. */
  readonly beside: ReadonlyMap<string, string>;
};

/** A place in a YAML text, in block style or in a value in flow style. */
export type YamlPlace = {
  /**
   * `key`: a key of the map at the path is written there, or a text if the path ends in a list; `value`: the value at the
   * path; `entry`: an entry of the list at the path begins there.
   */
  readonly kind: 'key' | 'value' | 'entry';
  readonly path: readonly PathStep[];
  /** The other keys of the map at the path, with the texts of their values. */
  readonly present: ReadonlyMap<string, string>;
  /** The column, from 0, where the written word begins. */
  readonly from: number;
  /** Present in a map or a list in flow style. */
  readonly isFlow?: true;
};
