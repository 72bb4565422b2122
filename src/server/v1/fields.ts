import type { Param } from '../../core/run/run.ts';
import { parseParams } from '../../language/params.ts';
import { HttpError } from '../reply/http-error.ts';
import type { ApiRequest } from '../route.ts';

/** An action request of the v1 API. An empty text: not given. */
export type ActionFields = {
  readonly action: string;
  readonly value: string;
  readonly requestId: string;
  readonly step: string;
  /** Null: not given, so that defaults apply. */
  readonly params: readonly Param[] | null;
};

/** Returns the fields of a form or a JSON object, with `action` also from the query. Throws an `HttpError` 400 for another body. */
export function actionFields({ body, query }: ApiRequest): ActionFields {
  const fields = fieldsOf(body);
  const text = (...names: readonly string[]) =>
    names.map((name) => fields.get(name)).find((value) => value !== undefined) ?? '';
  const action = text('action') || (query.get('action') ?? '');
  if (action === '') throw new HttpError(400, '"action" is missing');
  const params = text('params');
  return {
    action,
    value: text('value'),
    requestId: text('request-id', 'requestId'),
    step: text('step'),
    params: params.trim() === '' ? null : parseParams(params),
  };
}

/** Throws an `HttpError` 400 if a field is empty. */
export function requireField(fields: ActionFields, key: 'value' | 'requestId' | 'step', name: string): string {
  if (fields[key] !== '') return fields[key];
  throw new HttpError(400, `"${name}" is missing, which "${fields.action}" needs`);
}

/** Converts a body to texts: JSON may contain `true` for "true"; null: not given. */
function fieldsOf(body: unknown): ReadonlyMap<string, string> {
  if (body === undefined || body === null) return new Map();
  if (typeof body !== 'object' || Array.isArray(body)) throw new HttpError(400, 'the body must be an object');
  return new Map(
    Object.entries(body)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [name, fieldText(name, value)]),
  );
}

function fieldText(name: string, value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || typeof value === 'number') return String(value);
  throw new HttpError(400, `"${name}" must be a text`);
}
