import { HttpError } from '../reply/http-error.ts';

/** The fields of a body, JSON or a form. */
export type BodyFields = Readonly<Record<string, unknown>>;

/** Returns the fields of a body; empty without a body. Throws an `HttpError` 400 for unknown fields. */
export function bodyFields(body: unknown, names: readonly string[]): BodyFields {
  if (body === undefined || body === null) return {};
  if (typeof body !== 'object' || Array.isArray(body)) throw new HttpError(400, 'the body must be an object');
  const unknown = Object.keys(body).find((name) => !names.includes(name));
  if (unknown === undefined) return body as BodyFields;
  throw new HttpError(400, `there is no field "${unknown}"`, { help: `fields: ${names.join(', ')}` });
}

/** Reads a non-empty text; null if it is not given. Throws an `HttpError` 400 for another value. */
export function textField(fields: BodyFields, name: string): string | null {
  const value = fields[name];
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string') return value;
  throw new HttpError(400, `"${name}" must be a text`);
}

/** Reads true or false, in a form as text; default: false. Throws an `HttpError` 400 for another value. */
export function flagField(fields: BodyFields, name: string): boolean {
  const value = fields[name];
  if (value === true || value === 'true') return true;
  if (value === undefined || value === null || value === false || value === 'false' || value === '') return false;
  throw new HttpError(400, `"${name}" must be true or false`);
}
