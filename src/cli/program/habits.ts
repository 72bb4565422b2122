import { type Command, Option } from 'commander';
import { WfError } from '#system/errors.ts';

const DAEMON = 'wf serve, the daemon, which does both';

/** What to call instead of commands of other runners. */
const replacements: ReadonlyMap<string, string> = new Map([
  ...['cancel', 'kill', 'abort'].map((name) => [name, 'wf stop RUN'] as const),
  ...['show', 'info', 'inspect', 'describe'].map((name) => [name, 'wf status RUN'] as const),
  ...['coordinator', 'worker'].map((name) => [name, DAEMON] as const),
  ...['rm', 'delete', 'prune', 'cleanup', 'clean'].map((name) => [name, 'wf gc, which removes old runs'] as const),
  ['ls', 'wf list for workflows, wf history for runs'],
  ['ps', 'wf history --status running'],
  ['enqueue', 'wf run --detach FILE; with "queue" in the file and a daemon (--server), the run waits for its turn'],
  ['dequeue', 'wf stop RUN'],
  ['trigger', 'wf run FILE'],
  ['check', 'wf validate FILE'],
  ['plan', 'wf dry FILE'],
]);

/** Throws a `WfError` `usage` for a file, or for a command of another runner, in the place of a command. */
export function refuseForeignCommand([word = '']: readonly string[], { commands }: Command): void {
  if (commands.some((command) => [command.name(), ...command.aliases()].includes(word))) return;
  const isFile = /^[^-].*\.ya?ml$/is.test(word);
  const replacement = isFile ? `wf run ${word}` : replacements.get(word);
  if (replacement === undefined) return;
  throw new WfError('usage', isFile ? `"${word}" is no command` : `unknown command "${word}"`, { help: replacement });
}

type RunOptions = { readonly runId?: string; readonly requestId?: string };

/** Adds options by which other runners name the run of a workflow; `refuseRunOptions` says how to name it. */
export function withRunOptions(command: Command): Command {
  for (const name of ['--run-id <id>', '--request-id <id>']) command.addOption(new Option(name).hideHelp());
  return command;
}

/** Throws a `WfError` `usage` if an option of `withRunOptions` is given. */
export function refuseRunOptions({ runId, requestId }: RunOptions, command: string): void {
  const id = runId ?? requestId;
  if (id === undefined) return;
  const option = runId === undefined ? '--request-id' : '--run-id';
  throw new WfError('usage', `wf ${command} has no ${option}: the run is named instead of its workflow`, {
    help: `wf ${command} ${id}`,
  });
}
