import { diagnosticJson } from '#render/views/json-views.ts';
import { readQuery } from '../../requests.ts';
import { type Handler, jsonReply } from '../../route.ts';
import type { V2Parts } from '../v2-parts.ts';
import { detailView } from './workflow-json.ts';

/** `GET /api/v2/workflows/{name}`. */
export function showWorkflowRoute(parts: V2Parts): Handler {
  return async ({ params: { name = '' }, access }) => {
    const listed = parts.workflows.get(name);
    await parts.runIndex.refresh();
    await parts.runIndex.recent.read([listed.file]);
    return jsonReply(detailView(listed, access, parts));
  };
}

/** `POST /api/v2/validate`. */
export function validateRoute({ workflows }: V2Parts): Handler {
  return async ({ body, query }) => {
    const { workflow } = readQuery('validate', query);
    if (workflow !== null) await workflows.seek(workflow);
    const beside = workflow === null ? null : workflows.get(workflow).file;
    const { isValid, diagnostics } = await workflows.check(typeof body === 'string' ? body : '', beside);
    return jsonReply({
      files: [{ file: '-', valid: isValid, diagnostics: diagnostics.map(diagnosticJson) }],
    });
  };
}
