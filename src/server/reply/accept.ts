/** How much a client likes something: a `quality` from 0 to 1, and whether it is named and not just among all of a kind. */
type Liking = { readonly quality: number; readonly isNamed: boolean };

type Range = { readonly type: string; readonly quality: number };

/**
 * Whether a client would rather have `wanted` than `usual`, each given by the names of its media type, the first being that
 * under which it is sent. By the header `Accept` of RFC 9110, section 12.5.1; liked the same, what is named goes first.
 */
export function prefers(accept: string | undefined, wanted: readonly string[], usual: readonly string[]): boolean {
  const ranges = rangesOf(accept ?? '*/*');
  const [one, other] = [likingOf(wanted, ranges), likingOf(usual, ranges)];
  return one.quality > other.quality || (one.quality === other.quality && one.quality > 0 && one.isNamed);
}

/** `text/yaml;q=0.5, application/*`: what is no such list has no ranges that mean anything. */
function rangesOf(accept: string): readonly Range[] {
  return accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1';
    return { type, quality: /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(quality) ? Number(quality) : 1 };
  });
}

/** The closest range counts, however much a wider one is liked. */
function likingOf(names: readonly string[], ranges: readonly Range[]): Liking {
  const named = ranges.filter(({ type }) => names.includes(type));
  if (named.length > 0) return { quality: Math.max(...named.map(({ quality }) => quality)), isNamed: true };
  const kind = names[0]?.replace(/\/.*/, '/*');
  const wide = ranges.find(({ type }) => type === kind) ?? ranges.find(({ type }) => type === '*/*');
  return { quality: wide?.quality ?? 0, isNamed: false };
}
