import { stripControls } from './sanitize.ts';

/** Text to stand between two tags of XML 1.0, without colours and without what XML cannot hold, escaped or not. */
export function xmlText(text: string): string {
  return escapeXml(text.split('\n').map(stripControls).join('\n'));
}

/** The value of an attribute, to stand in double quotes; readers would turn line ends and tabs into spaces. */
export function xmlAttribute(text: string): string {
  return escapeXml(text)
    .replaceAll('"', '&quot;')
    .replace(/[\t\n\r]/g, (character) => `&#${character.codePointAt(0)};`);
}

const names: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function escapeXml(text: string): string {
  // Made here: most runs write no XML.
  const impossible = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
  return text.replace(impossible, '').replace(/[&<>]/g, (character) => names[character] ?? '');
}
