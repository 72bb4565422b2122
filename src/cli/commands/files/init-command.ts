import { existsSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { createColors, renderTable } from '#render/terminal.ts';
import { escapeControls, shellQuote } from '#render/text.ts';
import { WfError } from '#system/errors.ts';
import { readTemplate, type TemplateName, templateNames, templateTitle } from '../../asset.ts';
import type { CommonOptions } from '../../program/add-command.ts';
import type { Console } from '../../terminal/console.ts';
import { writeNew } from '../../terminal/write-file.ts';

/** The options of `wf init`; `file` is `-` for standard output. */
type InitOptions = CommonOptions & {
  readonly file: string;
  readonly template: TemplateName;
  readonly list?: true;
  readonly force?: true;
  readonly json?: true;
};

/** Writes a first workflow. */
export function initCommand({ file, template, list, force, json }: InitOptions, console: Console): void {
  if (json && !list) throw new WfError('usage', '--json requires --list');
  if (list) listTemplates(json === true, console);
  else if (file === '-') console.out.write(workflowText(template, file));
  else {
    writeNew(file, workflowText(template, file), force === true);
    console.out.write(`wrote ${escapeControls(file)}: wf run ${shellQuote(file)} runs it\n`);
  }
}

function workflowText(template: TemplateName, file: string): string {
  const name = file === '-' ? 'workflow.yaml' : file;
  const text = readTemplate(template).replaceAll('FILE', shellQuote(basename(name)));
  return `${schemaComment(name, SCHEMA_URL)}\n${text}`;
}

function listTemplates(isJson: boolean, { out, outTerminal }: Console): void {
  const listed = templateNames.map((name) => ({ name, description: templateTitle(readTemplate(name)) }));
  const { bold } = createColors(outTerminal.color);
  const rows = listed.map(({ name, description }) => [
    { text: name, paint: bold },
    { text: description, paint: (text: string) => text },
  ]);
  out.write(isJson ? `${JSON.stringify(listed, null, 2)}\n` : renderTable(rows));
}

/** The address of the published JSON Schema of workflow files, its `$id`. */
const SCHEMA_URL = 'https://raw.githubusercontent.com/wfrun/wf/main/docs/reference/schemas/workflow.json';

const IN_PROJECT = 'node_modules/wfrun/dist/workflow.schema.json';

/** Returns the comment by which editors find the schema: a path in a project with this package, else the published address. */
function schemaComment(file: string, published: string): string {
  const found = pathInProject(dirname(resolve(file)));
  const line = `# yaml-language-server: $schema=${found ?? published}\n`;
  if (found !== null) return `${line}# (This line lets editors complete and check the file.)\n`;
  return `${line}# With this line editors complete and check this file. Without a network, write the schema beside it
# (wf schema > wf.schema.json) and name ./wf.schema.json instead.
`;
}

function pathInProject(directory: string): string | null {
  for (let above = directory; ; above = dirname(above)) {
    const path = join(above, IN_PROJECT);
    const relativePath = relative(directory, path);
    if (existsSync(path)) return relativePath.startsWith('.') ? relativePath : `./${relativePath}`;
    if (dirname(above) === above) return null;
  }
}
