import { singleQuoted } from '#core/words/quote-word.ts';
import type { RemoteCode } from './code.ts';

/**
 * The remote command line, the same for every step: from any login shell it starts an `sh` that reads its code from the
 * first line of its input. So no value appears in a list of processes or exceeds a limit, and the rest of the input
 * stays available.
 */
export const bootstrap = `exec sh -c 'IFS= read -r wf_code && eval "$(printf %b "$wf_code")"'`;

/** Input that asks the program to end. */
export const stopLine = 'stop\n';

/**
 * The first line of the input: code that runs the program in the foreground, without input, and exits with its exit code. A
 * watcher in the background reads the rest of the input. On a line it sends the signal to the program's whole group. At the
 * end of the input (this machine is gone or kills the step) it sends the signal, unless it already has, and soon SIGKILL.
 *
 *   - The group is the session created by the SSH server; its number is that of the supervisor, which survives the signal.
 *   - Without a terminal the server does not notify the program of a lost connection, hence the watcher.
 *   - A signal sent while the program is being started would be lost, so the watcher creates a mark before sending it.
 *   - Only the program writes to the error output: a shell would print a message about its end, including the code.
 *   - Processes that the program leaves in the group are ended with it: nothing can reach them later, and the server keeps
 *     the connection while any process holds the output open.
 */
export function supervisedLine(program: RemoteCode, signal: string): string {
  return `${asLine(supervisor(program, signal.replace(/^SIG/, '')))}\n`;
}

function supervisor({ code, script, leaveBackground }: RemoteCode, signal: string): string {
  return `exec 3<&0 4>&2 </dev/null 2>/dev/null
wf_dir=$(umask 077; mktemp -d)
${script === null ? '' : writeScript(script)}
wf_mark=\${wf_dir:-/dev/null}/stopped
wf_remove() { [ -z "$wf_dir" ] || rm -rf "$wf_dir"; }
trap : ${signal}
(
  trap '' ${signal}
  exec 4>&-
  while IFS= read -r wf_line; do wf_asked=1; : >"$wf_mark"; kill -${signal} -$$; done
  [ "$wf_asked" ] || { kill -${signal} -$$; sleep 5; }
  wf_remove
  kill -KILL -$$
) <&3 >/dev/null &
wf_watcher=$!
exec 3<&-
( exec 2>&4 4>&-; [ -e "$wf_mark" ] && exit 143; eval ${singleQuoted(code)} )
wf_status=$?
kill -KILL $wf_watcher
${leaveBackground ? '' : groupEnd}
wf_remove
exit $wf_status`;
}

/**
 * Sends the rest of the group SIGTERM, unless a stop already did, and later SIGKILL from a background process, so that
 * the step does not wait for processes that have closed the output.
 */
const groupEnd = `trap '' TERM
( sleep 5; kill -KILL -$$ ) >/dev/null 4>&- &
[ -e "$wf_mark" ] || kill -TERM -$$`;

/** Only scripts need a directory: a command runs without a writable one. */
function writeScript(script: string): string {
  return `if [ -z "$wf_dir" ] || ! printf %s ${singleQuoted(script)} >"$wf_dir/script"; then
  echo 'the script could not be stored: no temporary directory is writable' >&4
  exit 1
fi`;
}

/** Escapes the code for `printf %b`. */
function asLine(code: string): string {
  return code.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
