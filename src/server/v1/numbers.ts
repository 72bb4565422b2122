import { HttpError } from '../reply/http-error.ts';

/** Reads a positive integer from the query. Throws an `HttpError` 400 for another value. */
export function countIn(query: URLSearchParams, name: string, fallback: number): number {
  const text = query.get(name);
  if (text === null || text === '') return fallback;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count > 0) return count;
  throw new HttpError(400, `"${name}" must be a whole number from 1 on`);
}

/** Throws an `HttpError` 400 if the query names another server. */
export function requireLocal(query: URLSearchParams): void {
  const node = query.get('remoteNode') ?? '';
  if (node === '' || node === 'local') return;
  throw new HttpError(400, `there is no remote node "${node}"`, { help: 'leave "remoteNode" out' });
}
