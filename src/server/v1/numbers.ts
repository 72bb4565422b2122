import { HttpError } from '../reply/http-error.ts';

/** A whole number from 1 on in the query. Throws an `HttpError` 400 for anything else. */
export function countIn(query: URLSearchParams, name: string, fallback: number): number {
  const text = query.get(name);
  if (text === null || text === '') return fallback;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count > 0) return count;
  throw new HttpError(400, `"${name}" must be a whole number from 1 on`);
}

/** Only this server answers here. Throws an `HttpError` 400 when the query names another. */
export function requireLocal(query: URLSearchParams): void {
  const node = query.get('remoteNode') ?? '';
  if (node === '' || node === 'local') return;
  throw new HttpError(400, `there is no remote node "${node}"`, { help: 'leave "remoteNode" out' });
}
