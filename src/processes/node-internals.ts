/** The release line whose last release is out: its undocumented parts stay as they are. */
const KNOWN_LINE = '20.';

/**
 * A part of Node that its own modules are built on, by name; null if this Node has none, or forbids it. Null in other
 * release lines than 20, too: any release may change such a part (24.20 changed how a process is started), and a call in
 * the earlier form aborts the process. If Node is to warn about interfaces that may go, it replaces the function by one
 * of another name, which warns.
 */
export function nodeInternals(name: 'process_wrap' | 'stream_wrap'): { readonly [name: string]: unknown } | null {
  if (!process.versions.node.startsWith(KNOWN_LINE)) return null;
  const binding: unknown = Reflect.get(process, 'binding');
  if (typeof binding !== 'function' || binding.name !== 'binding') return null;
  try {
    return Reflect.apply(binding, process, [name]);
  } catch {
    return null;
  }
}
