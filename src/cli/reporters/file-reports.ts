import type { Workflow } from '../../core/workflow.ts';
import { createFileReporter } from '../../render/reporters/file-reporter.ts';
import { junitReport } from '../../render/reporters/junit.ts';
import type { Recap, Reporter } from '../../render/reporters/reporter.ts';
import type { Console } from '../terminal/console.ts';
import { openReportFile } from './report-file.ts';
import type { FileReport } from './reporter-list.ts';

/**
 * The reporters that write files. Throws a `WfError` `usage` for one that could not be written; what goes wrong later is
 * told and changes nothing about the run.
 */
export function createFileReports(files: readonly FileReport[], { err }: Pick<Console, 'err'>): readonly Reporter[] {
  const cwd = process.cwd();
  return files.map(({ kind, path }) => {
    const file = openReportFile(path, cwd);
    return createFileReporter(rendering(kind, cwd), (text) => {
      try {
        file.write(text);
      } catch (error) {
        err.write(
          `wf: the report "${path}" was not written: ${error instanceof Error ? error.message : String(error)}\n`,
        );
      }
    });
  });
}

function rendering(kind: FileReport['kind'], cwd: string): (recap: Recap, workflow: Workflow) => string {
  switch (kind) {
    case 'junit':
      return (recap, workflow) => junitReport(recap, workflow, cwd);
    case 'summary':
      return ({ summary }) => `${JSON.stringify(summary, null, 2)}\n`;
  }
}
