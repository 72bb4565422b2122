import { readQuery } from '../../requests.ts';
import { type ApiRequest, type Handler, jsonReply, type Reply } from '../../route.ts';
import { readMoment, requirePeriod } from '../request-fields.ts';
import type { V2Parts } from '../v2-parts.ts';

const dayMs = 86_400_000;
const MAX_MOMENTS = 1000;
/** The number of scheduled times in an event of the stream of all changes. */
const MAX_NEXT_MOMENTS = 50;

/** `GET /api/v2/schedule`. */
export function showSchedule(parts: V2Parts): Handler {
  return (request) => scheduleReply(request, parts);
}

async function scheduleReply({ query }: ApiRequest, parts: V2Parts): Promise<Reply> {
  const given = readQuery('showSchedule', query);
  const from = readMoment('from', given.from) ?? parts.clock.now();
  const to = readMoment('to', given.to) ?? from + 7 * dayMs;
  return jsonReply(await scheduleView({ ...requirePeriod({ from, to }), limit: MAX_MOMENTS }, parts));
}

/** The next times of all schedules; the stream of all changes sends fewer of them than a request returns. */
export function nextMoments(parts: V2Parts): Promise<object> {
  const from = parts.clock.now();
  return scheduleView({ from, to: from + 7 * dayMs, limit: MAX_NEXT_MOMENTS }, parts);
}

type Window = { readonly from: number; readonly to: number; readonly limit: number };

async function scheduleView({ from, to, limit }: Window, parts: V2Parts): Promise<object> {
  const { moments, missed, workflows } = parts;
  const found = await moments(from, to, limit + 1);
  const listed = new Map(workflows.list().map((each) => [each.file, each]));
  return {
    from: new Date(from),
    to: new Date(to),
    moments: found.slice(0, limit).flatMap(({ file, kind, at }) => {
      const workflow = listed.get(file);
      if (workflow === undefined) return [];
      const suspended = at.getTime() < (workflows.suspendedUntil(file) ?? 0);
      return [{ at, kind, workflow: workflows.nameOf(workflow), file, suspended }];
    }),
    more: found.length > limit,
    missed: missed(),
  };
}
