import type { PageEncoding } from './page-files.ts';

/** Encodings, the most compact first. */
const preferred: readonly PageEncoding[] = ['br', 'gzip'];

/** Returns the best available encoding that `Accept-Encoding` allows (RFC 9110, section 12.5.3). */
export function bestEncoding(
  accepted: string | string[] | undefined,
  available: readonly PageEncoding[],
): PageEncoding {
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
  const isAllowed = (encoding: string) => (qualities.get(encoding) ?? qualities.get('*') ?? 0) > 0;
  return preferred.find((encoding) => available.includes(encoding) && isAllowed(encoding)) ?? 'identity';
}
