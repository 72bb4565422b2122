import { jsonReply } from '../../reply/json-reply.ts';
import type { Handler } from '../../route.ts';
import type { V2Parts } from '../parts.ts';
import { detailView } from './workflow-view.ts';

/** `GET /api/v2/workflows/{name}`. */
export function showWorkflow(parts: V2Parts): Handler {
  return async ({ params: { name = '' }, access }) => {
    const listed = parts.workflows.get(name);
    await parts.runIndex.refresh();
    await parts.runIndex.recent.read([listed.file]);
    return jsonReply(detailView(listed, access, parts));
  };
}
