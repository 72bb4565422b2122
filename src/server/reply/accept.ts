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

/** An encoding of a body; `identity`: not encoded. */
export type Encoding = 'identity' | 'gzip' | 'br';

/** Encodings, the most compact first. */
const preferred: readonly Encoding[] = ['br', 'gzip'];

/** Returns the best available encoding that `Accept-Encoding` allows (RFC 9110, section 12.5.3). */
export function bestEncoding(accepted: string | string[] | undefined, available: readonly Encoding[]): Encoding {
  const qualities = new Map(
    String(accepted ?? '')
      .toLowerCase()
      .split(',')
      .map((each) => {
        const [name = '', ...parameters] = each.split(';').map((part) => part.trim());
        const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
        return [name, quality === undefined ? 1 : Number(quality)] as const;
      }),
  );
  const qualityOf = (encoding: string) => qualities.get(encoding) ?? qualities.get('*') ?? 0;
  const allowed = preferred.filter((each) => available.includes(each) && qualityOf(each) > 0);
  const best = Math.max(...allowed.map(qualityOf));
  const found = allowed.find((each) => qualityOf(each) === best);
  return found === undefined || (qualities.get('identity') ?? 0) > best ? 'identity' : found;
}
