/** The form in which keys are compared: without regard to case and of `_`, so that `handler_on` is `handlerOn`. */
export function canonicalKey(key: string): string {
  return key.replaceAll('_', '').toLowerCase();
}
