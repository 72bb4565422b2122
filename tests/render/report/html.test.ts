import { expect, it } from 'vitest';
import { escapeHtml, html } from '../../../src/render/report/html.ts';
import fc from '../../support/fast-check.ts';

it('escapes text for elements and attributes', () => {
  expect(html`<b title="${'"><script>'}">${"a & b's <i>"}</b>`.markup).toBe(
    '<b title="&quot;&gt;&lt;script&gt;">a &amp; b&#39;s &lt;i&gt;</b>',
  );
});

it('puts in markup, lists and numbers as they are, and nothing for null', () => {
  expect(html`${html`<i>${1}</i>`}|${[html`a`, html`b`]}|${null}`.markup).toBe('<i>1</i>|ab|');
});

it('makes characters visible that turn the direction of writing or control a terminal', () => {
  expect(escapeHtml('a\u202eb\u0000c\u001b[31md\ud800e')).toBe('a&lt;U+202E&gt;b^@c^[[31md\ufffde');
});

it('no text leaves its place', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0x2070 })), (codes) => {
      const text = String.fromCharCode(...codes);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be left
      expect(escapeHtml(text)).not.toMatch(/[<>"'\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
    }),
  );
});
