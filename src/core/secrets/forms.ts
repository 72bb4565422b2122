/** Minimum length of a masked text, in characters: anything shorter would match ordinary output all the time. */
const shortestSecret = 4;

/** Column widths at which tools wrap base64: MIME and coreutils, PEM and openssl. */
const lineWidths = [76, 64] as const;
const encoder = new TextEncoder();

/**
 * Every form in which a secret is searched for: the whole value and each of its lines, both plain and in the usual
 * encodings (base64 at any offset in a longer text, base64url, URL, JSON, quoted for a shell or for YAML).
 */
export function secretForms(value: string): ReadonlySet<string> {
  const plain = [value, ...value.split(/\r?\n/)].map((text) => text.trim());
  const forms = [value, ...plain].flatMap((text) => [
    text,
    ...base64Forms(text),
    ...urlForms(text),
    ...jsonForms(text),
    ...quotedForms(text),
  ]);
  return new Set(forms.filter((form) => form.length >= shortestSecret));
}

/** Whether any part of the value is long enough to be masked. */
export function canBeMasked(value: string): boolean {
  return value.split(/\r?\n/).some((line) => line.trim().length >= shortestSecret);
}

/** Three bytes make four characters, so the offset of a value gives three encodings of it, each with undefined ends. */
function base64Forms(text: string): readonly string[] {
  if (text.length < shortestSecret) return [];
  const bytes = [...encoder.encode(text)];
  const inside = [0, 1, 2].map((shift) =>
    base64([...Array.from({ length: shift }, () => 0), ...bytes]).slice(
      Math.ceil((shift * 4) / 3),
      Math.floor(((shift + bytes.length) * 4) / 3),
    ),
  );
  const alone = [base64(bytes), base64([...bytes, 0x0a])];
  const lines = alone.flatMap((encoded) => lineWidths.flatMap((width) => broken(encoded, width)));
  return [...inside, ...alone, ...lines].flatMap((form) => [form, base64url(form)]);
}

function base64(bytes: readonly number[]): string {
  return btoa(bytes.map((byte) => String.fromCharCode(byte)).join(''));
}

function base64url(encoded: string): string {
  return encoded.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function broken(encoded: string, width: number): readonly string[] {
  return encoded.length <= width ? [] : (encoded.match(new RegExp(`.{1,${width}}`, 'g')) ?? []);
}

/** Characters that different encoders leave as they are, besides letters and digits. */
const unreserved = ['-_.~', '-_.~/', "-_.!~*'()", "-_.!~*'();/?:@&=+$,#", '*-._'] as const;

function urlForms(text: string): readonly string[] {
  return unreserved.flatMap((kept) => {
    const encoded = percentEncoded(text, kept);
    const lower = encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
    return [encoded, lower].flatMap((form) => [form, form.replaceAll('%20', '+')]);
  });
}

function percentEncoded(text: string, kept: string): string {
  return [...encoder.encode(text)]
    .map((byte) => {
      const character = String.fromCharCode(byte);
      const isKept = /[A-Za-z0-9]/.test(character) || kept.includes(character);
      return isKept ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}

/** As different writers escape it, and once more for JSON inside a JSON string. */
function jsonForms(text: string): readonly string[] {
  const escaped = JSON.stringify(text).slice(1, -1);
  const slashes = escaped.replaceAll('/', '\\/');
  const html = escaped.replace(/[<>&]/g, unicodeEscape);
  const forms = [escaped, slashes, html, ...[escaped, slashes, html].flatMap(asciiForms)];
  return [...forms, JSON.stringify(escaped).slice(1, -1)];
}

function asciiForms(text: string): readonly string[] {
  const lower = text.replace(/[\u0080-\uffff]/g, unicodeEscape);
  return [lower, lower.replace(/\\u[0-9a-f]{4}/g, (code) => `\\u${code.slice(2).toUpperCase()}`)];
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** As shells print a word under `set -x`, and as YAML writes it between single quotes. */
function quotedForms(text: string): readonly string[] {
  if (!/['"\\$`]/.test(text)) return [];
  const inDoubleQuotes = text.replace(/["\\$`]/g, '\\$&');
  return [text.replaceAll("'", "'\\''"), text.replaceAll("'", `'"'"'`), text.replaceAll("'", "''"), inDoubleQuotes];
}
