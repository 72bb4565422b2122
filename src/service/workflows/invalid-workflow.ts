import type { Diagnostic, Source } from '#language/diagnostic.ts';
import { WfError } from '#system/errors.ts';

/** The file cannot be run; the diagnostics contain the reasons. */
export class InvalidWorkflow extends WfError {
  readonly diagnostics: readonly Diagnostic[];
  readonly sources: readonly Source[];

  constructor(name: string, diagnostics: readonly Diagnostic[], sources: readonly Source[]) {
    super('invalid-workflow', `"${name}" is not a valid workflow`);
    this.diagnostics = diagnostics;
    this.sources = sources;
  }

  /** The message with the first problem and its position, on one line. */
  get inOneLine(): string {
    const errors = this.diagnostics.filter(({ severity }) => severity === 'error');
    const [first] = errors;
    if (first === undefined) return this.message;
    const place =
      first.place === null ? '' : `${first.place.file}:${first.place.start.line}:${first.place.start.column}: `;
    const more = errors.length > 1 ? ` (the first of ${errors.length} errors that wf validate shows)` : '';
    return `${this.message}: ${place}${first.message}${more}`;
  }
}
