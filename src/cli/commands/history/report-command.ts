import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { RunSummary } from '#core/summary/summary.ts';
import { type ReportAssets, type ReportView, renderReport } from '#render/report.tsx';
import { shortId } from '#render/text.ts';
import {
  artifactsOf,
  bytesOfArtifact,
  drawRun,
  earlierRun,
  type History,
  type PastRun,
  runViewJson,
} from '#service/history.ts';
import { createLogTimes } from '#service/logs.ts';
import { type AccessOptions, reachOf, requireLocal } from '../../access/open-service.ts';
import { readAsset } from '../../asset.ts';
import { configFor } from '../../reference.ts';
import type { Console } from '../../terminal/console.ts';
import { writeParts } from '../../terminal/write-file.ts';
import { version } from '../../version.ts';

/** The options of `wf report`; `run` is null for the last run of all. */
type ReportOptions = AccessOptions & {
  readonly run: string | null;
  readonly output?: string;
  readonly withArtifacts?: boolean;
};

const LONGEST_NAME = 100;
/** The largest artifact that a report contains, and all together, in bytes. */
const MAX_EMBEDDED = 256 * 1024;
const MAX_ALL_EMBEDDED = 16 * 1024 * 1024;

/** Writes the HTML report of one run and prints the name of the file. */
export async function reportCommand(
  { run: word, output, withArtifacts = false, ...common }: ReportOptions,
  { out, err }: Console,
): Promise<void> {
  const app = await import('#app/history-app.ts');
  const config = configFor(common);
  requireLocal(common, config, 'report', 'wf status and wf logs show runs of a daemon');
  const { history } = app.createPast(config, { reach: reachOf(common, config, { err }) });
  const run = await history.find(word ?? '@latest');
  const report = { ...(await viewOf(run, history)), artifacts: reportedArtifacts(run, withArtifacts) };
  const parts = renderReport(report, readAssets());
  if (output === '-') {
    for await (const part of parts) {
      out.write(part);
      if (out.isBehind()) await out.drained();
      if (out.isClosed()) break;
    }
    return;
  }
  const path = target(output ?? null, report.view.run);
  await writeParts(path, parts);
  out.write(`${path}\n`);
}

async function viewOf(run: PastRun, history: History): Promise<Omit<ReportView, 'artifacts'>> {
  const drawn = await drawRun(run, history);
  const earlier = await earlierRun(run, history);
  const timesOf = createLogTimes(run, Date.now);
  return {
    earlier,
    view: runViewJson(drawn, Number.POSITIVE_INFINITY),
    logs: run.stored?.logs ?? null,
    timesOf: (log) => timesOf(log, log.stream),
    now: Date.now(),
    version,
  };
}

/** The artifacts of the run. `areEmbedded`: the report contains the small ones, as many as fit. */
function reportedArtifacts(run: PastRun, areEmbedded: boolean): ReportView['artifacts'] {
  let left = areEmbedded ? MAX_ALL_EMBEDDED : -1;
  return artifactsOf(run, null).map((artifact) => {
    const { name, bytes, removed } = artifact;
    if (removed) return { name, bytes, removed };
    if (bytes > MAX_EMBEDDED || bytes > left) return { name, bytes };
    left -= bytes;
    return { name, bytes, content: () => inBase64(bytesOfArtifact(run, artifact)) };
  });
}

async function inBase64(chunks: AsyncIterable<Buffer>): Promise<string> {
  const copied: Buffer[] = [];
  for await (const chunk of chunks) copied.push(Buffer.from(chunk));
  return Buffer.concat(copied).toString('base64');
}

function readAssets(): ReportAssets {
  const js = readAsset('report.js');
  return { css: readAsset('report.css'), js, scriptHash: createHash('sha256').update(js).digest('base64') };
}

/** In a directory the file gets its default name. */
function target(output: string | null, { workflow, runId }: Pick<RunSummary, 'workflow' | 'runId'>): string {
  const name = `${fileName(workflow)}-${fileName(shortId(runId))}.html`;
  if (output === null) return name;
  return statSync(output, { throwIfNoEntry: false })?.isDirectory() ? join(output, name) : output;
}

/** The name of a workflow may contain any character, even a slash. */
function fileName(text: string): string {
  const plain = text.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^[-.]+|-+$/g, '');
  return plain.slice(0, LONGEST_NAME) || 'run';
}
