const closing: { readonly [opening: string]: string } = { '(': ')', '[': ']', '{': '}' };

/**
 * What is left open or closed too often in a jq filter: a quote or a bracket. Null when all is in balance. Anything else
 * about a filter only jq can say.
 */
export function jqBalanceMistake(filter: string): string | null {
  // Of a string within a string, `"\(...)"`, the outer one goes on after its bracket: `"` stands for a string here.
  const open: string[] = [];
  for (let at = 0; at < filter.length; at++) {
    const character = filter[at] ?? '';
    if (open.at(-1) === '"') {
      if (character === '\\' && filter[++at] === '(') open.push('(');
      else if (character === '"') open.pop();
    } else if (character === '#') {
      at = endOfLine(filter, at);
    } else if (character === '"' || character in closing) {
      open.push(character);
    } else if (')]}'.includes(character)) {
      const opening = open.pop();
      if (opening === undefined) return `"${character}" closes nothing`;
      if (closing[opening] !== character) return `"${opening}" is closed by "${character}"`;
    }
  }
  const last = open.at(-1);
  return last === undefined ? null : `a ${last === '"' ? 'string' : `"${last}"`} is not closed`;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}
