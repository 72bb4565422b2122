/**
 * Whether GitHub's runner could take a line of the text for a command: it looks for `::` at the start of a line, spaces
 * aside, and for the older `##[` anywhere.
 */
export function couldCommand(text: string): boolean {
  return /##\[|^\s*::/m.test(text);
}

/**
 * Text that is not ours, so that nothing in it is a command to GitHub Actions. `token` ends the fence: nobody may be able
 * to guess it, and none is used twice, since a log can be read while it grows.
 */
export function fenced(text: string, token: string): string {
  if (text === '') return '';
  return `::stop-commands::${token}\n${text}${text.endsWith('\n') ? '' : '\n'}::${token}::\n`;
}
