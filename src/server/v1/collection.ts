import { basename } from 'node:path';
import { type FindLines, lineFinder } from '#service/workflows/line-matcher.ts';
import { createSlices } from '#system/turns.ts';
import { prefers } from '../reply/accept.ts';
import { readQuery } from '../requests.ts';
import { type ApiRequest, jsonReply, type Reply } from '../route.ts';
import { unknownAction } from './actions.ts';
import { actionFields, requireField } from './fields.ts';
import type { V1Parts } from './v1-parts.ts';
import { errorOf, fileText, tagsOf, workflowView } from './workflow-view.ts';

/** Lines of context around a match. */
const around = 2;
const mostMatches = 20;
/** The longest time of one slice of a search, in milliseconds. */
const sliceMs = 10;

const yamlTypes = ['text/yaml', 'application/yaml', 'text/x-yaml', 'application/x-yaml'];

/** `POST /api/v1/dags`: creates a workflow. */
export function createDag({ workflows }: V1Parts): (request: ApiRequest) => Promise<Reply> {
  return async (request) => {
    const fields = actionFields(request);
    if (fields.action !== 'new') throw unknownAction(fields.action, ['new']);
    return jsonReply({ DagID: basename(await workflows.create(requireField(fields, 'value', 'value'))) });
  };
}

/** `DELETE /api/v1/dags/{name}`: removes the file of a workflow and keeps its past runs. */
export function deleteDag({ workflows }: V1Parts): (request: ApiRequest) => Promise<Reply> {
  return async ({ params: { name = '' } }) => {
    await workflows.remove(workflows.get(name));
    return jsonReply({});
  };
}

/** `GET /api/v1/dags/{name}/spec`: the text of a workflow, as plain YAML if the client prefers that. */
export function showSpec(parts: V1Parts): (request: ApiRequest) => Reply {
  return ({ params: { name = '' }, headers, access }) => {
    const listed = parts.workflows.get(name);
    const text = fileText(listed, access, parts);
    if (prefers(headers.accept, yamlTypes, ['application/json'])) {
      return { status: 200, headers: { 'Content-Type': 'text/yaml; charset=utf-8', Vary: 'Accept' }, body: text };
    }
    const error = errorOf(listed, access, parts);
    return jsonReply({ Definition: text, Errors: error === null ? [] : [error] });
  };
}

/** `GET /api/v1/search?q=`: the workflows with a line that matches a regular expression, ignoring case. */
export function searchDags(parts: V1Parts): (request: ApiRequest) => Promise<Reply> {
  return async ({ query, access }) => {
    const { q } = readQuery('v1SearchDags', query);
    const find = lineFinder(q, { ignoreCase: true }, parts.searchLines);
    const pause = createSlices(sliceMs);
    const Results: object[] = [];
    for (const listed of parts.workflows.list()) {
      await pause();
      const Matches = await matchesIn(fileText(listed, access, parts), find);
      if (Matches.length === 0) continue;
      const workflow = listed.workflow === null ? null : parts.workflows.shown(listed.workflow);
      const dag = { ...workflowView(listed, workflow), Location: listed.file };
      Results.push({ Name: parts.workflows.nameOf(listed).replace(/\.ya?ml$/i, ''), DAG: dag, Matches });
    }
    return jsonReply({ Results, Errors: [] });
  };
}

/** `GET /api/v1/tags`: every tag of a workflow, in lower case, sorted. */
export function listTags({ workflows }: V1Parts): () => Reply {
  return () => {
    const tags = new Set(workflows.list().flatMap(({ workflow }) => tagsOf(workflow)));
    return jsonReply({ Tags: [...tags].sort(), Errors: [] });
  };
}

async function matchesIn(text: string, find: FindLines): Promise<readonly object[]> {
  const lines = text.split(/\r?\n/);
  const found = (await find(lines.join('\n'))).slice(0, mostMatches);
  return found.map((index) => {
    const first = Math.max(0, index - around);
    const Line = lines.slice(first, index + around + 1).join('\n');
    return { Line, LineNumber: index + 1, StartLine: first + 1 };
  });
}
