/** Copies text; returns whether the browser allowed it. Over plain HTTP only selected text can be copied. */
export async function copyText(text: string): Promise<boolean> {
  if (isSecureContext) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    );
  }
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'sr';
  // Only elements in an open dialog can have the focus.
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove();
  return isCopied;
}
