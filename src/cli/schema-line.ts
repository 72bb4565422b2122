import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** The address of the published JSON Schema of workflow files, its `$id`. */
export const SCHEMA_URL = 'https://raw.githubusercontent.com/wfrun/wf/main/docs/reference/schemas/workflow.json';

const inProject = 'node_modules/wfrun/dist/workflow.schema.json';

/**
 * Returns the comment by which editors find the schema of a workflow file. In a project with this package installed it contains
 * a path that is the same in every clone, else the address of the published schema. Ends with a line break.
 */
export function schemaComment(file: string, published: string): string {
  const found = pathInProject(dirname(resolve(file)));
  const line = `# yaml-language-server: $schema=${found ?? published}\n`;
  if (found !== null) return `${line}# (This line lets editors complete and check the file.)\n`;
  return `${line}# With this line editors complete and check this file. Without a network, write the schema beside it
# (wf schema > wf.schema.json) and name ./wf.schema.json instead.
`;
}

function pathInProject(directory: string): string | null {
  for (let above = directory; ; above = dirname(above)) {
    const path = join(above, inProject);
    if (existsSync(path)) return asRelative(relative(directory, path));
    if (dirname(above) === above) return null;
  }
}

function asRelative(path: string): string {
  return path.startsWith('.') ? path : `./${path}`;
}
