import type { Diagnostic } from '#run-view/api/types.ts';
import { api, ask, askTagged } from '../../api/client.ts';

/** A text of a workflow file, and the tag required to change it. */
export type TaggedText = { readonly text: string; readonly tag: string };

const yaml = {
  headers: { 'Content-Type': 'text/yaml' },
  // The body is plain text, not JSON.
  bodySerializer: (body: unknown) => String(body ?? ''),
};

/** Reads the text of a file from the disk. */
export async function readText(name: string): Promise<TaggedText> {
  const request = api.GET('/api/v2/workflows/{name}/source', {
    params: { path: { name } },
    parseAs: 'text',
    // Without this a browser would return its cached text.
    cache: 'no-store',
  });
  const { data, tag } = await askTagged<string>(request);
  return { text: data, tag };
}

/** Replaces a text if the file still has the tag; returns the new tag. */
export async function saveText(name: string, { text, tag }: TaggedText, allowInvalid: boolean): Promise<string> {
  const params = { path: { name }, header: { 'If-Match': tag }, query: allowInvalid ? { allowInvalid } : {} };
  const saved = await askTagged(api.PUT('/api/v2/workflows/{name}/source', { params, body: text, ...yaml }));
  return saved.tag;
}

/** Creates a file in a group; returns the id of the workflow. A text with errors is saved as well. */
export async function createWorkflow(name: string, group: string, text: string): Promise<string> {
  const params = { path: { name }, header: { 'If-None-Match': '*' as const }, query: { group, allowInvalid: true } };
  return (await ask(api.PUT('/api/v2/workflows/{name}/source', { params, body: text, ...yaml }))).id;
}

/** Renames a file or moves it to another group; returns the new id. */
export async function renameWorkflow(name: string, body: { to: string; group: string }): Promise<string> {
  const { tag } = await readText(name);
  const params = { path: { name }, header: { 'If-Match': tag } };
  return (await ask(api.POST('/api/v2/workflows/{name}/rename', { params, body }))).id;
}

/** Deletes a file. */
export async function deleteWorkflow(name: string): Promise<void> {
  const { tag } = await readText(name);
  await ask(api.DELETE('/api/v2/workflows/{name}', { params: { path: { name }, header: { 'If-Match': tag } } }));
}

/** Checks a text as the future text of a workflow. */
export async function checkText(workflow: string, text: string, signal: AbortSignal): Promise<readonly Diagnostic[]> {
  const request = api.POST('/api/v2/validate', { params: { query: { workflow } }, body: text, signal, ...yaml });
  return (await ask(request)).files.flatMap(({ diagnostics }) => diagnostics);
}
