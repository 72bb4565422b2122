import { WfError } from '../../errors.ts';
import type { Diagnostic, Source } from '../../spec/diagnostic.ts';

/** The file cannot be run; the diagnostics say why. */
export class InvalidWorkflow extends WfError {
  readonly diagnostics: readonly Diagnostic[];
  readonly sources: readonly Source[];

  constructor(name: string, diagnostics: readonly Diagnostic[], sources: readonly Source[]) {
    super('invalid-workflow', `"${name}" is not a valid workflow`);
    this.diagnostics = diagnostics;
    this.sources = sources;
  }
}
