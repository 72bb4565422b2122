import { isTerminal } from '#fast/os.ts';
import { escapeControls, formatElapsed, shortId } from '#render/text.ts';
import { views } from '#render/views.ts';
import { lockEntry } from '#service/service.ts';
import { WfError } from '#system/errors.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import { type AccessOptions, requireLocal, withService } from '../../access/open-service.ts';
import { configFor } from '../../reference.ts';
import { askWhether } from '../../terminal/ask.ts';
import type { Console } from '../../terminal/console.ts';

/** Lists the locks and queues in use. */
export function listLocksCommand(options: AccessOptions & BreakFlags, console: Console): Promise<void> {
  const given = options.yes ? '--yes' : options.queue ? '--queue' : options.run === undefined ? null : '--run';
  if (given !== null) throw new WfError('usage', `${given} needs "break" and the name of a lock`);
  return withService(options, console, async (service) => {
    const locks = await service.locks();
    if (options.json) return console.out.write(toJson(locks));
    const { renderLocks } = await views.locks();
    console.out.write(renderLocks(locks, console.outTerminal, Date.now()));
  });
}

type BreakFlags = { readonly queue?: true; readonly run?: string; readonly yes?: true };

type BreakOptions = AccessOptions & BreakFlags & { readonly name: string | null };

/** Takes a lock away from those that hold it, whose programs continue without it. */
export async function breakLockCommand({ name, ...options }: BreakOptions, console: Console): Promise<void> {
  if (name === null)
    throw new WfError('usage', 'wf locks break needs the name of a lock', { help: 'wf locks lists them' });
  const config = configFor(options);
  requireLocal(options, config, 'locks break', 'break the lock on the machine of the daemon');
  const { openLocks } = await import('#app/history-app.ts');
  const opened = await openLocks(config);
  const kind = options.queue ? 'queue' : 'lock';
  const listed = (await opened.list()).filter((lock) => lock.kind === kind);
  const lock = listed.find((each) => each.name === name && each.within === undefined);
  const what = `${kind} "${name}"`;
  if (lock === undefined || lock.holders.length === 0) {
    const help =
      didYouMean(
        nearNames(
          name,
          listed.map((each) => each.name),
        ),
      ) || 'wf locks lists what is held';
    throw new WfError('not-found', `nothing holds the ${what}`, { help });
  }
  const { run = '' } = options;
  const holders = lock.holders.filter(({ runId }) => runId.startsWith(run));
  if (holders.length === 0) throw new WfError('not-found', `no run "${run}" holds the ${what}`);
  const entry = lockEntry({ ...lock, holders });
  const lines = entry.holders.map((holder) => `  ${holderText(holder)}\n`).join('');
  if (!options.json) console.err.write(`the ${escapeControls(what)} is held by\n${lines}`);
  if (!options.yes && !(await isConfirmed(options, console))) return;
  const broken = await opened.break(new Set(holders.map(({ id }) => id)));
  if (options.json) console.out.write(toJson([entry]));
  else if (broken === 0) console.out.write(`the ${escapeControls(what)} was released meanwhile\n`);
  else console.out.write(`the ${escapeControls(what)} is broken\n`);
}

/** Throws a `WfError` `usage` if no person can be prompted. */
async function isConfirmed({ json }: AccessOptions, console: Console): Promise<boolean> {
  if (json || !isTerminal(0) || !console.errTerminal.isTerminal)
    throw new WfError('usage', 'breaking a lock needs a confirmation', { help: 'add --yes' });
  return askWhether('break it?', console);
}

/** `run 5f2c of "deploy", step web, for 3m02s; its programs continue without the lock`. */
function holderText({
  runId,
  workflow,
  step,
  since,
  unknown,
}: ReturnType<typeof lockEntry>['holders'][number]): string {
  const elapsed = formatElapsed(Date.now() - Date.parse(since));
  const of = `run ${shortId(runId)} of "${workflow}"${step === null ? '' : `, step ${step}`}, for ${elapsed}`;
  const meaning =
    unknown === undefined
      ? 'its programs continue without the lock'
      : `${unknown} cannot be checked from here: if it is alive, its programs continue without the lock`;
  return escapeControls(`${of}; ${meaning}`);
}

function toJson(locks: readonly object[]): string {
  return `${JSON.stringify({ locks }, null, 2)}\n`;
}
