/** Bytes from `from` up to before `to`. */
export type ByteRange = { readonly from: number; readonly to: number };

/**
 * Parses a `Range` header for a body of `size` bytes: one range; null for the whole body, also for several ranges and for an
 * invalid header (RFC 9110, 14.2); `unsatisfiable` for a range outside the body.
 */
export function byteRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec((header ?? '').replace(/\s/g, '')) ?? [];
  if (first === '' && last === '') return null;
  if (first === '') {
    const length = Number(last);
    return length === 0 || size === 0 ? 'unsatisfiable' : { from: Math.max(0, size - length), to: size };
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return null;
  if (from >= size) return 'unsatisfiable';
  return { from, to: last === '' ? size : Math.min(size, Number(last) + 1) };
}
