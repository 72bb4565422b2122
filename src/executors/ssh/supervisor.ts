import type { RemoteCode } from './code.ts';
import { quoteWord } from './quote-word.ts';

/**
 * The command line for the other machine, the same for every step: whatever the user's login shell is, it starts an `sh` that
 * takes its code from the first line of its input. So no value is seen in a list of processes, none is too long, and the
 * input stays open behind it.
 */
export const bootstrap = `exec sh -c 'IFS= read -r wf_code && eval "$(printf %b "$wf_code")"'`;

/** The input that asks the program to end. */
export const stopLine = 'stop\n';

/**
 * The first line of the input: code that runs the program in the foreground, without input, with its exit code as its own.
 * In the background a watcher reads what comes next. A line: the program's whole group gets the signal. The end of the
 * input, which means that this machine has gone or kills the step: it gets the signal unless it had it, and soon SIGKILL.
 *
 *   - The group is the session that the SSH server made; its number is the supervisor's, which survives the signal.
 *   - Without a terminal a server does not tell the program of a lost connection; that is why there is a watcher.
 *   - A stop may come while the program is being started and its signal be lost: the watcher leaves a mark before it.
 *   - Only the program writes to the error output: a shell would comment on its end, with the code.
 *   - What the program leaves in the group is ended with it, since nobody can reach it later and since the server keeps the
 *     connection for as long as anyone has the output open.
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
( exec 2>&4 4>&-; [ -e "$wf_mark" ] && exit 143; eval ${quoteWord(code)} )
wf_status=$?
kill -KILL $wf_watcher
${leaveBackground ? '' : groupEnd}
wf_remove
exit $wf_status`;
}

/**
 * The rest of the group gets SIGTERM, unless a stop has asked it already, and SIGKILL from one of its own that stays behind
 * for that: so the end of the step waits for nobody who has no output open.
 */
const groupEnd = `trap '' TERM
( sleep 5; kill -KILL -$$ ) >/dev/null 4>&- &
[ -e "$wf_mark" ] || kill -TERM -$$`;

/** A command needs no directory, so that it can do without a place to write. */
function writeScript(script: string): string {
  return `if [ -z "$wf_dir" ] || ! printf %s ${quoteWord(script)} >"$wf_dir/script"; then
  echo 'there is no place for the script: a temporary directory could not be written' >&4
  exit 1
fi`;
}

/** As `printf %b` reads it. */
function asLine(code: string): string {
  return code.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
