import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A file as the documentation of a version describes it. `#= LINE`: a line that its steps print, in any order; `#! CODE`: the
 * error that refuses it; `#valid`: it is not run, since it needs a service.
 */
export type Sample = { readonly name: string; readonly marks: readonly string[]; readonly text: string };

/** The folder of the samples: a file for each version. */
export const samplesFolder = join(import.meta.dirname, '../../../fixtures/forms');

/** The samples of a file of that folder. */
export function samplesOf(file: string): Sample[] {
  const parts = readFileSync(join(samplesFolder, file), 'utf8').split(/^#: /m);
  return parts.slice(1).map((part) => {
    const [name = '', ...lines] = part.split('\n');
    const marks = lines.filter((line) => /^#(?:[=!] |valid$)/.test(line));
    return { name, marks, text: lines.filter((line) => !marks.includes(line)).join('\n') };
  });
}
