import { statSync } from 'node:fs';
import { type DrawnRun, drawRun } from '../../../service/history/draw-run.ts';
import { runViewJson } from '../../../service/history/run-view-json.ts';
import { entityTag } from '../../reply/send.ts';
import { type Handler, jsonReply } from '../../route.ts';
import { namedRun, type V2Parts } from '../v2-parts.ts';

/** A sent view: it is still current for a client as long as nothing below has changed. */
type SentView = {
  readonly tag: string;
  /** Marks of the run and its sub-runs. */
  readonly runIds: readonly string[];
  readonly files: readonly string[];
  readonly stamp: string;
};

/** Number of remembered views, a few hundred bytes each. */
const MAX_VIEWS = 1000;

/** `GET /api/v2/runs/{id}/view`. */
export function viewRunRoute(parts: V2Parts): Handler {
  const sent = new Map<string, SentView>();
  return async ({ params: { id = '' }, headers: asked }) => {
    const before = sent.get(id);
    const isKnown = before !== undefined && asked['if-none-match']?.includes(before.tag) === true;
    if (isKnown && stampOf(before, parts) === before.stamp) return reply(before.tag, '');
    const run = await namedRun(id, parts);
    // Read first: an event that arrives meanwhile makes it outdated.
    const stamp = parts.runStamp(run.runId);
    const drawn = await drawRun(run, parts.history);
    const body = `${JSON.stringify(runViewJson(drawn))}\n`;
    if (sent.size >= MAX_VIEWS) sent.clear();
    if (id === run.runId && stamp === parts.runStamp(id)) sent.set(id, sentView(drawn, entityTag(body), parts));
    return reply(entityTag(body), body);
  };
}

function reply(tag: string, body: string) {
  return { status: 200, headers: { ETag: tag, 'Cache-Control': 'private, no-cache' }, body };
}

function sentView({ run, sources, children }: DrawnRun, tag: string, parts: V2Parts): SentView {
  const inner = Array.from(children.values(), ({ summary }) => summary.runId);
  const view = { tag, runIds: [run.runId, ...inner], files: sources.map(({ path }) => path) };
  return { ...view, stamp: stampOf(view, parts) };
}

/** Changes with the events of the runs and with the files. */
function stampOf({ runIds, files }: Pick<SentView, 'runIds' | 'files'>, { runStamp }: V2Parts): string {
  const times = files.map((path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? '' : `${stats.size}.${stats.mtimeMs}`;
  });
  return [...runIds.map(runStamp), ...times].join(' ');
}

/** `GET /api/v2/runs/{id}`. */
export function showRunRoute(parts: V2Parts): Handler {
  return async ({ params: { id = '' } }) => jsonReply(parts.history.summarize(await namedRun(id, parts)));
}
