import { didYouMean } from '#language/near-names.ts';
import { editorSchema } from '#language/schema/editor-schema.ts';
import { documentationOf, nearPaths } from '#language/schema/schema-doc.ts';
import { renderKeyDoc } from '#render/views/key-doc.ts';
import { WfError } from '#system/errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { CommonOptions } from '../../program/add-command.ts';
import type { Console } from '../../terminal/console.ts';

/** The options of `wf schema`. */
export type SchemaOptions = CommonOptions & { readonly path: string | null; readonly json?: true };

/** Prints the JSON Schema of workflow files, or the documentation of one key. */
export function schemaCommand({ path, json }: SchemaOptions, console: Console): number {
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
  return exitCodes.succeeded;
}
