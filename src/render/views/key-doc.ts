import type { KeyDoc, SchemaDoc } from '#language/schema/schema-doc.ts';
import type { Terminal } from '../reporters/reporter.ts';
import { createColors } from '../text/colors.ts';
import { padEnd, textWidth } from '../text/width.ts';

/** Renders the documentation of `wf schema <path>`. Ends with a line break. */
export function renderKeyDoc(
  { path, doc, keys }: Omit<SchemaDoc, 'schema'>,
  { color }: Pick<Terminal, 'color'>,
): string {
  const colors = createColors(color);
  const width = Math.max(0, ...keys.map(({ key }) => textWidth(key)));
  const lines = [
    `${colors.bold(path)}  ${colors.dim(facts(doc).join(', '))}`,
    ...(doc.description === '' ? [] : [`  ${doc.description}`]),
    ...doc.examples.map((example) => `  ${colors.dim('for example')} ${JSON.stringify(example)}`),
    ...(keys.length === 0 ? [] : ['']),
    ...keys.map(
      (key) =>
        `  ${colors.cyan(padEnd(key.key, width))}  ${key.description} ${colors.dim(`(${facts(key).join(', ')})`)}`,
    ),
  ];
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

function facts({ type, required, default: fallback }: KeyDoc): readonly string[] {
  return [
    ...(type === '' ? [] : [type]),
    ...(required ? ['required'] : []),
    ...(fallback === undefined || fallback === null ? [] : [`default ${JSON.stringify(fallback)}`]),
  ];
}
