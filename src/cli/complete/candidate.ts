/** One completion of a word. */
export type Candidate = { readonly value: string; readonly description: string };

/** The files that the shell offers in addition. */
export type FileKind = 'none' | 'files' | 'yaml' | 'directories';

/** The completions at the cursor. */
export type Candidates = { readonly files: FileKind; readonly values: readonly Candidate[] };

/** Creates a candidate without a description. */
export function plain(value: string): Candidate {
  return { value, description: '' };
}
