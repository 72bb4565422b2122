import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { WfError } from '../../errors.ts';
import { createColors } from '../../render/text/colors.ts';
import { escapeControls } from '../../render/text/sanitize.ts';
import { shellQuote } from '../../render/text/shell-quote.ts';
import { renderTable } from '../../render/text/table.ts';
import { readTemplate, type TemplateName, templateNames, templateTitle } from '../asset.ts';
import { exitCodes } from '../exit-codes.ts';
import type { CommonOptions } from '../program/add-command.ts';
import { SCHEMA_URL, schemaComment } from '../schema-line.ts';
import type { Console } from '../terminal/console.ts';
import { unwritable } from '../terminal/write-file.ts';

/** The options of `wf init`; `file` is `-` for standard output. */
export type InitOptions = CommonOptions & {
  readonly file: string;
  readonly template: TemplateName;
  readonly list?: true;
  readonly force?: true;
  readonly json?: true;
};

/** Writes a first workflow. */
export function initCommand({ file, template, list, force, json }: InitOptions, console: Console): number {
  if (list) return listTemplates(json === true, console);
  if (json) throw new WfError('usage', '--json goes with --list');
  const text = workflowText(template, file);
  if (file === '-') {
    console.out.write(text);
    return exitCodes.succeeded;
  }
  write(file, text, force === true);
  console.out.write(`wrote ${escapeControls(file)}: wf run ${shellQuote(file)} runs it\n`);
  return exitCodes.succeeded;
}

function workflowText(template: TemplateName, file: string): string {
  const name = file === '-' ? 'workflow.yaml' : file;
  const text = readTemplate(template).replaceAll('FILE', shellQuote(basename(name)));
  return `${schemaComment(name, SCHEMA_URL)}\n${text}`;
}

function write(file: string, text: string, isForced: boolean): void {
  try {
    writeFileSync(file, text, { flag: isForced ? 'w' : 'wx' });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
      const help = 'name another file, or overwrite it with --force';
      throw new WfError('usage', `"${file}" exists already`, { help, cause: error });
    }
    throw unwritable(file, error);
  }
}

function listTemplates(isJson: boolean, { out, outTerminal }: Console): number {
  const listed = templateNames.map((name) => ({ name, description: templateTitle(readTemplate(name)) }));
  const { bold } = createColors(outTerminal.color);
  const rows = listed.map(({ name, description }) => [
    { text: name, paint: bold },
    { text: description, paint: (text: string) => text },
  ]);
  out.write(isJson ? `${JSON.stringify(listed, null, 2)}\n` : renderTable(rows));
  return exitCodes.succeeded;
}
