import { relative } from 'node:path';
import { workflowDirectories } from '#config/config.ts';
import { given } from '#core/data/collections.ts';
import type { Diagnostic } from '#language/diagnostic.ts';
import { diagnosticJson, type GraphFormat } from '#render/data-views.ts';
import { escapeControls } from '#render/text.ts';
import { views } from '#render/views.ts';
import {
  type CheckedFile,
  checkFile,
  filesToCheck,
  getWorkflow,
  unreadable,
  type WorkflowDirectories,
} from '#service/workflows.ts';
import { LOCAL_ENGINE } from '#system/engine-address.ts';
import { WfError } from '#system/errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { CommonOptions } from '../../program/add-command.ts';
import { configFor, workflowReference } from '../../reference.ts';
import type { Console } from '../../terminal/console.ts';
import type { Checked } from './engine-fit.ts';

type ValidateOptions = CommonOptions & {
  readonly names: readonly string[];
  readonly format: 'pretty' | 'json' | 'github';
  readonly json?: true;
  readonly strict?: true;
  /** Also print the warnings that the files ignore. */
  readonly verbose?: true;
};

/** Prints every problem of files and directories, by default of the workflows directory. Exit code 2 if one is invalid. */
export async function validateCommand(options: ValidateOptions, console: Console): Promise<number> {
  const config = configFor(options);
  const directories = workflowDirectories(config);
  const names = filesToCheck(options.names, directories);
  const pools = config.settings.read('pools').value;
  const checks = { environment: Object.keys(process.env), isStrict: options.strict === true, pools };
  const read = names.map((name): Checked => {
    const { ignored, ...file } = readOrPrint(name, directories, checks);
    return { file: name, ...file, ignored: options.verbose ? ignored : [] };
  });
  const isLocal = config.settings.read('engine').value === LOCAL_ENGINE;
  const checked = isLocal ? read : await (await import('./engine-fit.ts')).withFit(read, config);
  await print(checked, options.json ? 'json' : options.format, console);
  return checked.every(({ valid }) => valid) ? exitCodes.succeeded : exitCodes.unusable;
}

/** A missing file must not hide the problems of the others. */
function readOrPrint(
  name: string,
  directories: WorkflowDirectories,
  checks: Parameters<typeof checkFile>[2],
): CheckedFile {
  try {
    return checkFile(workflowReference(name), directories, checks);
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
    const diagnostics = [unreadable(error, error.code)];
    return { valid: false, workflow: null, diagnostics, ignored: [], sources: [] };
  }
}

async function print(checked: readonly Checked[], format: ValidateOptions['format'], console: Console): Promise<void> {
  const { githubAnnotation, renderDiagnostics } = await views.diagnostics();
  const all = once(checked.flatMap((file) => file.diagnostics.map((diagnostic) => inItsFile(diagnostic, file))));
  switch (format) {
    case 'json': {
      const files = checked.map(({ file, valid, form, diagnostics, ignored, engine }) => ({
        file,
        valid,
        ...(form === undefined ? {} : { form }),
        diagnostics: diagnostics.map(diagnosticJson),
        ...(ignored.length === 0 ? {} : { ignored: ignored.map(diagnosticJson) }),
        ...given({ engine }),
      }));
      console.out.write(`${JSON.stringify({ files }, null, 2)}\n`);
      break;
    }
    case 'github':
      for (const diagnostic of all) console.out.write(`${githubAnnotation(diagnostic, { cwd: process.cwd() })}\n`);
      break;
    case 'pretty': {
      const { color, unicode } = console.errTerminal;
      const sources = checked.flatMap((file) => file.sources);
      if (all.length > 0) console.err.write(renderDiagnostics(all, sources, { color, unicode, cwd: process.cwd() }));
      // Where both streams go to one file, the diagnostics come first.
      await console.err.drained();
      const { fitLines } = checked.some(({ engine }) => engine) ? await views.plan() : { fitLines: () => [] };
      for (const { file, valid, form, ignored, engine } of checked) {
        const ofForm = form === undefined ? '' : ' (Dagu 2.15 form)';
        for (const line of ignored.map(ignoredLine)) console.out.write(`${escapeControls(line)}\n`);
        if (valid) console.out.write(`${escapeControls(file)}: valid${ofForm}\n`);
        if (valid && engine !== undefined) {
          for (const line of fitLines(engine)) console.out.write(`  ${escapeControls(line)}\n`);
        }
      }
      break;
    }
  }
}

function ignoredLine({ position: place, code, message }: Diagnostic): string {
  const at = place === null ? '' : `${relative(process.cwd(), place.file)}:${place.start.line}:${place.start.column}: `;
  return `${at}ignored ${code}: ${message}`;
}

/** A base configuration or an import that several files share is reported once. */
function once(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const shown = new Set<string>();
  return diagnostics.filter(({ position: place, code, message }) => {
    const mark = JSON.stringify([place, code, message]);
    if (place !== null && shown.has(mark)) return false;
    shown.add(mark);
    return true;
  });
}

/** A problem of a whole file is shown at its first line, so that the message names the file. */
function inItsFile(diagnostic: Diagnostic, { sources: [source] }: Checked): Diagnostic {
  if (diagnostic.position !== null || diagnostic.code === 'more-problems' || source === undefined) return diagnostic;
  const start = { line: 1, column: 1 };
  return { ...diagnostic, position: { file: source.path, start, end: start } };
}

type GraphOptions = CommonOptions & {
  readonly name: string;
  readonly format: GraphFormat;
  readonly json?: true;
};

/** Draws the steps of a workflow. */
export async function graphCommand({ json, format, name, ...options }: GraphOptions, console: Console): Promise<void> {
  const { renderGraph } = await views.graph();
  const { workflow } = getWorkflow(workflowReference(name), workflowDirectories(configFor(options)));
  console.out.write(renderGraph(workflow, json ? 'json' : format, { unicode: console.outTerminal.unicode }));
}
