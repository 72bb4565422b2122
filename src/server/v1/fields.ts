import type { Param } from '#core/run/run.ts';
import { parseParams } from '#language/params.ts';
import { readBody } from '../requests.ts';
import { type ApiRequest, HttpError } from '../route.ts';

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
  const fields = readBody('v1ActOnDag', body);
  const text = (value: string | number | boolean | null) => String(value ?? '');
  const params = text(fields.params);
  return {
    action: text(fields.action ?? query.get('action')),
    value: text(fields.value),
    requestId: text(fields['request-id'] ?? fields.requestId),
    step: text(fields.step),
    params: params.trim() === '' ? null : parseParams(params),
  };
}

/** Throws an `HttpError` 400 if a field is empty. */
export function requireField(fields: ActionFields, key: 'value' | 'requestId' | 'step', name: string): string {
  if (fields[key] !== '') return fields[key];
  throw new HttpError(400, `"${name}" is missing, which "${fields.action}" needs`);
}
