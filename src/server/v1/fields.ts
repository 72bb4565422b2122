import type { Param } from '../../core/run/run.ts';
import { parseParams } from '../../language/params.ts';
import { HttpError } from '../reply/http-error.ts';
import type { ApiRequest } from '../route.ts';

/** What the v1 API is asked to do. Empty texts are what was not given. */
export type ActionFields = {
  readonly action: string;
  readonly value: string;
  readonly requestId: string;
  readonly step: string;
  /** Null: none given, so that defaults count. */
  readonly params: readonly Param[] | null;
};

/** The fields of a form or of a JSON object, `action` also of the query. Throws an `HttpError` 400 for what is neither. */
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

/** Throws an `HttpError` 400 when a field is empty. */
export function requireField(fields: ActionFields, key: 'value' | 'requestId' | 'step', name: string): string {
  if (fields[key] !== '') return fields[key];
  throw new HttpError(400, `"${name}" is missing, which "${fields.action}" needs`);
}

/** JSON may say `true` where a form says "true"; null is what was not given. */
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
