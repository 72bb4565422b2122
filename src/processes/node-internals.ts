/**
 * A part of Node that its own modules are built on, by name; null if this Node has none, or forbids it. If Node is to warn
 * about interfaces that may go, it replaces the function by one of another name, which warns.
 */
export function nodeInternals(name: 'process_wrap' | 'stream_wrap'): { readonly [name: string]: unknown } | null {
  const binding: unknown = Reflect.get(process, 'binding');
  if (typeof binding !== 'function' || binding.name !== 'binding') return null;
  try {
    return Reflect.apply(binding, process, [name]);
  } catch {
    return null;
  }
}
