import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { proseOf } from './guide-blocks.ts';
import { root, textOf } from './pages.ts';

const guides = ['docker', 'remote', 'reverse-proxy', 'troubleshooting'].map((name) => `docs/guide/${name}.md`);

/** Parts of messages of Node, and of messages that are put together from single words. */
const others = [
  'node',
  'app.env',
  'not found',
  'must be a map, not',
  'does not exist in image',
  'the command could not start in container',
];

const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) =>
    readFileSync(join(root, 'src', name), 'utf8')
      .replaceAll("\\'", "'")
      .replaceAll('\\"', '"'),
  )
  .join('\n');

test('the messages that the guides explain are those of the program', () => {
  const parts = guides.flatMap((page) => messagesIn(proseOf(textOf(page))).flatMap(partsOf));

  expect(parts.filter((part) => !sources.includes(part) && !others.includes(part))).toEqual([]);
  expect(parts.length).toBeGreaterThan(35);
});

test('a message that the program does not have is found', () => {
  const page =
    '| message | cause |\n|---|---|\n| `no workflow "x"` | `a b c` |\n| `exit 1: gone for good ...` | b |\n\n| `a key` | c |\n';
  expect(messagesIn(page).flatMap(partsOf)).toEqual(['no workflow', 'exit', 'gone for good']);
});

/** The code spans in the first cells of tables of messages, symptoms or responses. */
function messagesIn(page: string): readonly string[] {
  const tables = page.split(/\n\n+/).filter((part) => /^\| (?:message|response|symptom) \|/.test(part));
  const cells = tables.flatMap((table) => table.split('\n').map((row) => row.split(' | ')[0] ?? ''));
  return cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span));
}

/** What of a message does not depend on its values: names in quotes, addresses, numbers and `...`. */
function partsOf(message: string): readonly string[] {
  return message
    .split(/\.\.\.|"[^"]*"|\S+:\/\/\S+|\b\d+s?\b| ?\w -> |: /)
    .map((part) => part.trim())
    .filter((part) => /[a-z]{2} [a-z]|[a-z]{4}/.test(part));
}
