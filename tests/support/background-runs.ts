import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunSummary } from '#core/summary/summary.ts';
import { identify, isAlive } from '#processes/process-identity.ts';
import type { Place } from './past-runs.ts';

/** Looks again and again until there is something to see; a test that waits for nothing runs into its own time limit. */
export async function eventually<T>(look: () => T | null | undefined | false | Promise<T | null | undefined | false>) {
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** The run once it has ended like this, and its process with it. */
export async function untilOver({ json }: Place, runId: string, status: RunSummary['status']): Promise<RunSummary> {
  const run = await eventually(async () => {
    const seen = await json('status', runId);
    return seen.status === status && seen;
  });
  await untilGone(run.owner?.pid ?? 0);
  return run;
}

/** Resolves when no such process runs any more. */
export async function untilGone(pid: number): Promise<void> {
  const process = identify(pid);
  await eventually(() => process === null || !isAlive(process));
}

/** What the journal of a run says, event by event. */
export function journalOf(
  { runsDir }: Place,
  runId: string,
): readonly { readonly type: string; readonly message?: string }[] {
  const lines = readFileSync(join(runsDir, runId, 'journal.jsonl'), 'utf8')
    .trimEnd()
    .split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line).data);
}

/** All that a run's directory holds, as text. */
export function filesOf({ runsDir }: Place, runId: string): Readonly<Record<string, string>> {
  const directory = join(runsDir, runId);
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(paths.map((path) => [path.slice(directory.length + 1), readFileSync(path, 'utf8')]));
}
