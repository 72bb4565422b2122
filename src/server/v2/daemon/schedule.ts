import { HttpError } from '../../reply/http-error.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import { readQuery } from '../../requests.ts';
import type { ApiRequest, Handler, Reply } from '../../route.ts';
import { readMoment } from '../moment.ts';
import type { V2Parts } from '../parts.ts';

const dayMs = 86_400_000;
const MAX_MOMENTS = 1000;

/** `GET /api/v2/schedule`. */
export function showSchedule(parts: V2Parts): Handler {
  return (request) => scheduleReply(request, parts);
}

function scheduleReply({ query }: ApiRequest, { clock, moments, missed, names, catalog, suspensions }: V2Parts): Reply {
  const given = readQuery('showSchedule', query);
  const from = readMoment('from', given.from) ?? clock.now();
  const to = readMoment('to', given.to) ?? from + 7 * dayMs;
  if (to < from || to > 8.64e15) throw new HttpError(400, '"to" must be after "from"');
  const listed = new Map(catalog.list().map((each) => [each.file, each]));
  const found = moments(from, to, MAX_MOMENTS + 1);
  return jsonReply({
    from: new Date(from),
    to: new Date(to),
    moments: found.slice(0, MAX_MOMENTS).flatMap(({ file, kind, at }) => {
      const workflow = listed.get(file);
      if (workflow === undefined) return [];
      return [{ at, kind, workflow: names.nameOf(workflow), file, suspended: suspensions.isSuspended(file) }];
    }),
    more: found.length > MAX_MOMENTS,
    missed: missed(),
  });
}
