/** An element of a parsed document; `text` is its direct text. */
export type Element = {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: Element[];
  text: string;
};

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
// The characters of XML 1.0 (2.2): others are invalid in any form.
const allowed = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]*$/u;

/** Reads the part of XML that reports need; throws at the first position that is not well-formed. */
export function parseXml(document: string): Element {
  if (!allowed.test(document)) throw new Error('a character that XML does not allow');
  const body = document.replace(/^<\?xml version="1.0" encoding="UTF-8"\?>\s*/, '');
  const root: Element = { name: '', attributes: {}, children: [], text: '' };
  const open: Element[] = [root];
  for (const [token] of body.matchAll(/<[^>]*>|[^<]+|</g)) {
    const parent = open.at(-1) ?? root;
    if (!token.startsWith('<')) parent.text += decode(token);
    else if (token.startsWith('</')) {
      if (open.pop()?.name !== token.slice(2, -1)) throw new Error(`${token} ends something else`);
    } else {
      const element = readTag(token);
      parent.children.push(element);
      if (!token.endsWith('/>')) open.push(element);
    }
  }
  const [only, ...more] = root.children;
  if (open.length > 1 || only === undefined || more.length > 0) throw new Error('not one element');
  return only;
}

function readTag(tag: string): Element {
  const found = /^<([a-z-]+)((?:\s+[A-Za-z]+="[^"<]*")*)\s*\/?>$/.exec(tag);
  if (!found) throw new Error(`not a tag: ${tag}`);
  const pairs = [...(found[2] ?? '').matchAll(/([A-Za-z]+)="([^"]*)"/g)];
  // Line ends in attributes are read as spaces.
  const attributes = pairs.map(([, name = '', value = '']) => [name, decode(value.replace(/[\t\n\r]/g, ' '))] as const);
  if (new Set(attributes.map(([name]) => name)).size !== attributes.length)
    throw new Error(`an attribute twice: ${tag}`);
  return { name: found[1] ?? '', attributes: Object.fromEntries(attributes), children: [], text: '' };
}

function decode(text: string): string {
  return text.replace(/&([^;&]*);|&/g, (reference, name: string | undefined) => {
    const code = /^#(\d+)$/.exec(name ?? '')?.[1];
    const value = code === undefined ? entities[name ?? ''] : String.fromCodePoint(Number(code));
    if (value === undefined || !allowed.test(value)) throw new Error(`not a reference: ${reference}`);
    return value;
  });
}
