/** The preference of a client: a `quality` from 0 to 1, and whether the media type is named and not matched by a wildcard. */
type Liking = { readonly quality: number; readonly isNamed: boolean };

type Range = { readonly type: string; readonly quality: number };

/**
 * Whether a client prefers `wanted` to `usual`, each given by the names of its media type; the first name is used in
 * responses. Follows the header `Accept` of RFC 9110, section 12.5.1; at equal quality, a named type wins.
 */
export function prefers(accept: string | undefined, wanted: readonly string[], usual: readonly string[]): boolean {
  const ranges = rangesOf(accept ?? '*/*');
  const [one, other] = [likingOf(wanted, ranges), likingOf(usual, ranges)];
  return one.quality > other.quality || (one.quality === other.quality && one.quality > 0 && one.isNamed);
}

/** Parses `text/yaml;q=0.5, application/*`; invalid ranges are ignored. */
function rangesOf(accept: string): readonly Range[] {
  return accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    return { type, quality: /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality) ? Number(quality) : 1 };
  });
}

/** Returns the preference of the most specific range. */
function likingOf(names: readonly string[], ranges: readonly Range[]): Liking {
  const named = ranges.filter(({ type }) => names.includes(type));
  if (named.length > 0) return { quality: Math.max(...named.map(({ quality }) => quality)), isNamed: true };
  const kind = names[0]?.replace(/\/.*/, '/*');
  const wide = ranges.find(({ type }) => type === kind) ?? ranges.find(({ type }) => type === '*/*');
  return { quality: wide?.quality ?? 0, isNamed: false };
}
