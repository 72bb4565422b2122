/** One way to go on. */
export type Candidate = { readonly value: string; readonly description: string };

/** Which files the shell itself is to offer besides. */
export type FileKind = 'none' | 'files' | 'yaml' | 'directories';

/** What can stand where the cursor is. */
export type Candidates = { readonly files: FileKind; readonly values: readonly Candidate[] };

/** A candidate about which there is nothing more to say. */
export function plain(value: string): Candidate {
  return { value, description: '' };
}
