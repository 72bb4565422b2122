import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Bytes at the end of the error output that hold the last words of ssh. */
const TAIL_BYTES = 1024;

/** Such words end with CR LF, and are written to the error output even with `-E`. Source: clientloop.c of OpenSSH. */
const lastWords =
  /(?:^|\n)((?:Connection to .* closed by remote host|Read from remote host .*: .*|Write failed: .*)\.?)\r+\n$/;

/** What ssh printed about a connection that was lost while the program ran; null when it printed no such line. */
export function lostConnection(stderrPath: string): string | null {
  const words = lastWords.exec(tailOf(stderrPath))?.[1];
  return words === undefined ? null : `the connection was lost (ssh: ${words.replace(/\.$/, '')})`;
}

function tailOf(path: string): string {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString();
  } finally {
    closeSync(fd);
  }
}
