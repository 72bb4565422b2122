import { statSync } from 'node:fs';
import { steps } from '#core/run/run-state.ts';
import { reachedHandlers } from '#core/summary/summarize.ts';
import { drawRun } from '#service/history/draw-run.ts';
import type { PastRun } from '#service/history/past-run.ts';
import { summarizeWithFailures } from '#service/history/run-failures.ts';
import { runViewJson } from '#service/history/run-view-json.ts';
import { entityTag } from '../../reply/send.ts';
import { type Handler, jsonReply } from '../../route.ts';
import { liveCursorText } from '../daemon/live-events.ts';
import { namedRun, type V2Parts } from '../v2-parts.ts';

/** What a view shows besides its run. */
type Others = {
  /** Ids of sub-runs. */
  readonly runIds: readonly string[];
  readonly files: readonly string[];
};

/** A sent view: it is still current for a client as long as the stamp is the same. */
type SentView = Others & { readonly tag: string; readonly stamp: string; readonly lastEvent: number };

/** Number of remembered views, a few hundred bytes each. */
const MAX_VIEWS = 1000;

/** `GET /api/v2/runs/{id}/view`. */
export function viewRunRoute(parts: V2Parts): Handler {
  const sent = new Map<string, SentView>();
  return async ({ params: { id = '' }, headers: asked }) => {
    // The stream then reports what changes after this, of the run and of others.
    await parts.runIndex.refresh();
    const position = parts.changes.position();
    const cursorAt = (run: number) => liveCursorText(parts.changes, { position, run });
    // Each stamp is read before what it stands for: a change meanwhile makes the view outdated.
    const own = parts.runStamp(id);
    const before = sent.get(id);
    const isKnown = before !== undefined && asked['if-none-match']?.includes(before.tag) === true;
    if (isKnown && before.stamp === `${own} ${stampOf(before, parts)}`)
      return reply(before.tag, cursorAt(before.lastEvent), '');
    const run = await namedRun(id, parts);
    const lastEvent = run.stored?.events.at(-1)?.seq ?? 0;
    const others = othersOf(run);
    const stamp = `${own} ${stampOf(others, parts)}`;
    const body = `${JSON.stringify(runViewJson(await drawRun(run, parts.history)))}\n`;
    const tag = entityTag(body);
    if (sent.size >= MAX_VIEWS) sent.clear();
    // A run without a journal has the stamp of a removed one.
    if (id === run.runId && own !== '') sent.set(id, { ...others, tag, stamp, lastEvent });
    return reply(tag, cursorAt(lastEvent), body);
  };
}

function reply(tag: string, cursor: string, body: string) {
  return { status: 200, headers: { ETag: tag, 'WF-Cursor': cursor, 'Cache-Control': 'private, no-cache' }, body };
}

function othersOf({ state, stored }: PastRun): Others {
  const runIds = [...steps(state), ...reachedHandlers(state)].flatMap(({ child }) => child ?? []);
  return { runIds, files: stored?.sources.map(({ path }) => path) ?? [] };
}

/** Changes with the events of the runs and with the files. */
function stampOf({ runIds, files }: Others, { runStamp }: V2Parts): string {
  const times = files.map((path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? '' : `${stats.size}.${stats.mtimeMs}`;
  });
  return [...runIds.map(runStamp), ...times].join(' ');
}

/** `GET /api/v2/runs/{id}`. */
export function showRunRoute(parts: V2Parts): Handler {
  return async ({ params: { id = '' } }) =>
    jsonReply(await summarizeWithFailures(await namedRun(id, parts), parts.history));
}
