import { expect, it } from 'vitest';
import { markup } from '#render/report.tsx';
import fc from '../../support/fast-check.ts';

it('escapes text for elements and attributes', () => {
  expect(markup(<b title={`'"><script>`}>{"a & b's <i>"}</b>)).toBe(
    `<b title="'&quot;>&lt;script>">a &amp; b's &lt;i></b>\n`,
  );
});

it('shows characters that control a terminal or the direction of writing', () => {
  expect(markup(<b title={'\u202e'}>{'a\u202eb\u0000c\u001b[31md\ud800e'}</b>)).toBe(
    '<b title="&lt;U+202E&gt;">a&lt;U+202E&gt;b^@c^[[31md\ufffde</b>\n',
  );
});

it('text cannot break out of its element or attribute', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0x2070 })), (codes) => {
      const text = String.fromCharCode(...codes);
      const [, title, body] = /^<b title(?:="([^"]*)")?>([^<]*)<\/b>\n$/.exec(markup(<b title={text}>{text}</b>)) ?? [];
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be left
      expect(`${title ?? ''}${body ?? '<'}`).not.toMatch(/[<"\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
    }),
  );
});
