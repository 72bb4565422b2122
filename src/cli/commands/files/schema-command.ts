import { documentationOf, editorSchema, type KeyDoc, nearPaths, type SchemaDoc } from '#language/schema/schema-doc.ts';
import { createColors, type Terminal } from '#render/terminal.ts';
import { padEnd, textWidth } from '#render/text.ts';
import { WfError } from '#system/errors.ts';
import { didYouMean } from '#system/near-names.ts';
import type { CommonOptions } from '../../program/add-command.ts';
import type { Console } from '../../terminal/console.ts';

type SchemaOptions = CommonOptions & { readonly path: string | null; readonly form?: 'dagu'; readonly json?: true };

/** Prints the JSON Schema of workflow files of a form, or the documentation of one key. */
export async function schemaCommand({ path, form, json }: SchemaOptions, console: Console): Promise<void> {
  if (form !== undefined) {
    if (path !== null) throw new WfError('usage', '--form prints the whole schema: leave the key out');
    const { daguSchema } = await import('#language/schema/dagu-schema.ts');
    console.out.write(`${JSON.stringify(daguSchema(), null, 2)}\n`);
    return;
  }
  const found = documentationOf(path ?? '');
  if (found === null) {
    throw new WfError('usage', `there is no key "${path}" in a workflow file`, {
      help: didYouMean(nearPaths(path ?? '')) || 'wf schema steps lists the keys of a step',
    });
  }
  const isJson = json || path === null;
  console.out.write(
    isJson ? `${JSON.stringify(editorSchema(found.schema), null, 2)}\n` : renderKeyDoc(found, console.outTerminal),
  );
}

/** Renders the documentation of `wf schema <path>`. Ends with a line break. */
function renderKeyDoc({ path, doc, keys }: Omit<SchemaDoc, 'schema'>, { color }: Pick<Terminal, 'color'>): string {
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
