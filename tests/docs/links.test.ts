import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { proseOf } from './guide-blocks.ts';
import { pages, root, textOf } from './pages.ts';

test('every link leads to a file, and to a heading of it', () => {
  expect(pages.flatMap((page) => brokenLinks(page, textOf(page)))).toEqual([]);
  expect(pages.length).toBeGreaterThan(100);
});

test('a missing file and a missing heading are found, in text and in images', () => {
  const text = `# A page
[a](b.md) [c
d](guide/README.md#start) [e](#a-page) [f](#b-page) ![g](h.png) [web](https://example.com/#x)
\`\`\`sh
# B page [in a block](no.md)
\`\`\`
`;
  expect(brokenLinks('docs/a.md', text)).toEqual([
    'docs/a.md: b.md',
    'docs/a.md: guide/README.md#start',
    'docs/a.md: #b-page',
    'docs/a.md: h.png',
  ]);
});

function brokenLinks(page: string, text: string): readonly string[] {
  const targets = [...proseOf(text).matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, target = '']) => target);
  return targets.filter((target) => !leadsSomewhere(page, text, target)).map((target) => `${page}: ${target}`);
}

function leadsSomewhere(page: string, text: string, target: string): boolean {
  const [path = '', heading] = target.split('#');
  const file = path === '' ? page : posix.join(posix.dirname(page), path);
  if (!existsSync(`${root}/${file}`) && path !== '') return false;
  return heading === undefined || anchorsOf(path === '' ? text : textOf(file)).includes(heading);
}

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(text: string): readonly string[] {
  return [...proseOf(text).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
