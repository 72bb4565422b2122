import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const inProject = 'node_modules/wfrun/dist/workflow.schema.json';

/**
 * The comment by which editors find the schema of a workflow file. In a project that has this package installed it names the
 * schema by a path that is the same in every clone; else it names `installed`, the schema of the program that runs, and
 * says how to get one to go with the file. Ends with a line end.
 */
export function schemaComment(file: string, installed: string): string {
  const found = pathInProject(dirname(resolve(file)));
  const line = `# yaml-language-server: $schema=${found ?? asAddress(installed)}\n`;
  if (found !== null) return `${line}# (With this line editors complete and check what is written here.)\n`;
  return `${line}# With this line editors complete and check what is written here. It names the schema of the wf that wrote it; for
# others to have it too, write the schema beside this file (wf schema > wf.schema.json) and name ./wf.schema.json.
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

/** The comment ends a path at its first space. */
function asAddress(path: string): string {
  return /^[\w./@+-]+$/.test(path) ? path : pathToFileURL(path).href;
}
