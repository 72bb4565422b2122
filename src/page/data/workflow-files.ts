import { api, ask, askTagged } from '../api/client.ts';
import type { Diagnostic } from '../api/types.ts';

/** A text of a workflow file, and the tag that a change of it needs. */
export type TaggedText = { readonly text: string; readonly tag: string };

const yaml = {
  headers: { 'Content-Type': 'text/yaml' },
  // The body is the text itself.
  bodySerializer: (body: string | undefined) => body ?? '',
};

/** Reads the text of a file as it is on the disk. */
export async function readText(name: string): Promise<TaggedText> {
  const request = api.GET('/api/v2/workflows/{name}/source', {
    params: { path: { name } },
    parseAs: 'text',
    // A browser would answer with a text that it has kept.
    cache: 'no-store',
  });
  const { data, tag } = await askTagged<string>(request);
  return { text: data, tag };
}

/** Replaces a text that is still the one of the tag; answers the new tag. */
export async function saveText(name: string, { text, tag }: TaggedText, allowInvalid: boolean): Promise<string> {
  const params = { path: { name }, header: { 'If-Match': tag }, query: allowInvalid ? { allowInvalid } : {} };
  const saved = await askTagged(api.PUT('/api/v2/workflows/{name}/source', { params, body: text, ...yaml }));
  return saved.tag;
}

/** The problems of a text that will be that of a workflow. */
export async function checkText(workflow: string, text: string, signal: AbortSignal): Promise<readonly Diagnostic[]> {
  const request = api.POST('/api/v2/validate', { params: { query: { workflow } }, body: text, signal, ...yaml });
  return (await ask(request)).files.flatMap(({ diagnostics }) => diagnostics);
}
