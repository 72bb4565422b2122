import { basicHeader } from '#system/basic-login.ts';

/** The `Basic ...` header for the credentials in a URL; null if it has none. */
export function urlLogin({ username, password }: URL): string | null {
  if (username === '' && password === '') return null;
  return basicHeader({ username: decoded(username), password: decoded(password) });
}

/** A percent sign that starts no escape stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
