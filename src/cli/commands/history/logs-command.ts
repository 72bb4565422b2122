import { createLogLines } from '#render/log-lines.ts';
import { createPrefix } from '#render/reporters.ts';
import { createColors } from '#render/terminal.ts';
import { dateAndTime, escapeControls } from '#render/text.ts';
import type { LogAnswer } from '#service/service.ts';
import { WfError } from '#system/errors.ts';
import { type AccessOptions, withService } from '../../access/open-service.ts';
import type { Console, Output } from '../../terminal/console.ts';

/** The options of `wf logs`; `run` is null for the last run of all, `step` for all steps. */
type LogsOptions = AccessOptions & {
  readonly run: string | null;
  readonly step: string | null;
  readonly follow?: true;
  readonly stream?: 'stdout' | 'stderr';
  readonly tail?: number;
  readonly attempt?: number;
  readonly timestamps?: true;
  readonly raw?: true;
};

/** Prints the output of steps. */
export async function logsCommand(options: LogsOptions, console: Console): Promise<void> {
  const { run: word, step, raw, json, attempt = null, stream = null, tail = null } = options;
  if (raw && json) throw new WfError('usage', '--raw and --json exclude each other');
  const times = options.timestamps === true;
  if (raw && times) throw new WfError('usage', '--raw and --timestamps exclude each other');
  await withService({ ...options, shows: word }, console, async ({ runs }) => {
    const tell = (line: string) => console.err.write(`${escapeControls(line)}\n`);
    const follow = options.follow === true;
    const request = { step, attempt, stream, tail, times, exact: raw === true, follow, tell };
    const logs = await runs.logs(word ?? '@latest', request);
    await printLogs(logs, options, console);
  });
}

/** Prints until the reader closes the stream. */
async function printLogs(logs: LogAnswer, printing: LogsOptions, { out, outTerminal }: Console): Promise<void> {
  const { step, raw, json, tail = null } = printing;
  const { steps } = logs;
  const name = steps === null ? () => '' : createPrefix({ steps }, createColors(outTerminal.color));
  const lines = createLogLines({
    keepsColors: outTerminal.stripsColors !== true,
    form: json ? 'json' : raw ? 'raw' : 'text',
    prefix: step === null ? (each) => `${name(each)} ` : () => '',
    tail,
    marksAttempts: printing.attempt === undefined,
    step,
    timeText: dateAndTime,
    write: out.write,
  });
  const { isBehind, drained: caughtUp, isClosed } = out;
  await whileRead(out, (signal) => logs.read({ ...lines, isBehind, caughtUp, isClosed }, signal));
}

const POLL_MS = 100;

async function whileRead(out: Output, read: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const unread = new AbortController();
  const looks = setInterval(() => out.isClosed() && unread.abort(), POLL_MS).unref();
  try {
    await read(unread.signal);
  } finally {
    clearInterval(looks);
  }
}
