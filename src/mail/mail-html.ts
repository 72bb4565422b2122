/** Tags that mark a message as HTML when it starts with one. */
const leadingTag =
  /^\s*(?:<!--|<!doctype html\b|<(?:html|head|body|div|p|h[1-6]|table|ul|ol|dl|pre|span|b|strong|i|em|a|br|hr|img|style|center|font|section|article|header)\b[^<>]*>)/i;

/** Whether the message starts with a tag; `<root@host> says` does not. */
export function isHtml(message: string): boolean {
  return leadingTag.test(message);
}

/** Converts HTML to text for mail programs that show only text. */
export function htmlToText(html: string): string {
  return decodeEntities(
    html
      .replace(/<!--[\s\S]*?(?:-->|$)/g, '')
      .replace(/<(head|style|script|title)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, '')
      .replace(/\s+/g, ' ')
      .replace(/<(?:br|hr|\/?(?:p|div|h[1-6]|table|tr|ul|ol|dl|pre|section|article|header|center))\b[^<>]*>/gi, '\n')
      .replace(/<li\b[^<>]*>/gi, '\n- ')
      .replace(/<\/t[dh]\s*>/gi, '  ')
      .replace(/<\/?[a-z!][^<>]*>/gi, ''),
  )
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

const named: { readonly [name: string]: string } = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[String(name).toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
