/** The form in which keys are compared: case and `_` are ignored, so that `handler_on` is `handlerOn`. */
export function canonicalKey(key: string): string {
  return key.replaceAll('_', '').toLowerCase();
}
