/**
 * Follows the tokens of a text outside of its scalars, and tells with each how deep the lists and maps in brackets that
 * are keys lie in each other: 1 at the colon of `[a]: b`, 0 wherever no such key ends.
 */
export function keyDepthCounter(): (lexeme: string) => number {
  /** For each bracket that is open, the depth of the keys in it. */
  const open: number[] = [];
  /** The same for the bracket that was just closed; null when something else came after it. */
  let closed: number | null = null;
  const keep = (depth: number): number => {
    if (open.length > 0) open.push(Math.max(open.pop() ?? 0, depth));
    return depth;
  };
  return (lexeme) => {
    if (lexeme === ':' && closed !== null) {
      const depth = keep(closed + 1);
      closed = null;
      return depth;
    }
    if (lexeme === ']' || lexeme === '}') closed = keep(open.pop() ?? 0);
    else if (lexeme.trim() !== '' && !lexeme.startsWith('#')) closed = null;
    if (lexeme === '[' || lexeme === '{') open.push(0);
    return 0;
  };
}
