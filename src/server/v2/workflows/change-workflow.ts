import { HttpError } from '../../reply/http-error.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import type { Handler } from '../../route.ts';
import { bodyFields, flagField, textField } from '../body-fields.ts';
import type { V2Parts } from '../parts.ts';
import { expectedText } from './conditions.ts';

/** `POST /api/v2/workflows/{name}/rename`. */
export function renameWorkflow({ names, editor, catalog }: V2Parts): Handler {
  return async (request) => {
    const listed = names.find(request.params['name'] ?? '');
    const fields = bodyFields(request.body, ['to', 'group']);
    const to = textField(fields, 'to');
    const group = fields['group'] === '' ? '' : textField(fields, 'group');
    if (to === null) throw new HttpError(400, '"to" is missing', { help: 'it is the new name' });
    const file = await editor.rename(listed, to, {
      check: expectedText(request),
      ...(group === null ? {} : { group }),
    });
    const renamed = catalog.list().find((each) => each.file === file);
    if (renamed === undefined) throw new HttpError(409, 'the file was removed again');
    return jsonReply({ id: names.nameOf(renamed), file });
  };
}

/** `DELETE /api/v2/workflows/{name}`. */
export function deleteWorkflow({ names, editor }: V2Parts): Handler {
  return async (request) => {
    const listed = names.find(request.params['name'] ?? '');
    await editor.remove(listed, expectedText(request));
    return { status: 204, body: null };
  };
}

/** `PUT /api/v2/workflows/{name}/suspended`. */
export function suspendWorkflow({ names, suspensions }: V2Parts): Handler {
  return ({ params: { name = '' }, body }) => {
    const { file } = names.find(name);
    const fields = bodyFields(body, ['suspended']);
    if (fields['suspended'] === undefined) throw new HttpError(400, '"suspended" must be true or false');
    const suspended = flagField(fields, 'suspended');
    suspensions.set(file, suspended);
    return jsonReply({ suspended });
  };
}
