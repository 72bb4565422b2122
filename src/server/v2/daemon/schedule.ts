import { type DescribedRoute, json, type Operation, ref } from '../../docs/operation.ts';
import { HttpError } from '../../reply/http-error.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import type { ApiRequest, Reply } from '../../route.ts';
import { filter } from '../parameters.ts';
import type { V2Parts } from '../parts.ts';
import { momentIn } from '../query.ts';

const dayMs = 86_400_000;
const MAX_MOMENTS = 1000;

const operation: Operation = {
  id: 'showSchedule',
  tag: 'Daemon',
  summary: 'Lists the next and missed starts of all schedules',
  description:
    'In the order of time, 1,000 moments at most; `more` says whether there are others. Moments of suspended workflows are in the list, and nothing happens at them. `missed` counts moments since the start of the daemon that passed without anything being started.',
  parameters: [
    filter('from', 'From that moment on; now, if it is not given.'),
    filter('to', 'Up to that moment; seven days after `from`, if it is not given.'),
  ],
  answers: {
    200: json('The moments.', ref('DaemonSchedule'), {
      from: '2026-03-01T00:00:00.000Z',
      to: '2026-03-08T00:00:00.000Z',
      moments: [
        {
          at: '2026-03-01T03:00:00.000Z',
          kind: 'start',
          workflow: 'etl.yaml',
          file: '/srv/wf/dags/etl.yaml',
          suspended: false,
        },
      ],
      more: false,
      missed: 0,
    }),
  },
};

/** `GET /api/v2/schedule`. */
export function scheduleRoute(parts: V2Parts): DescribedRoute {
  return {
    method: 'GET',
    path: '/api/v2/schedule',
    access: 'read',
    body: 'none',
    errors: 'problem',
    handle: (request) => schedule(request, parts),
    operation,
  };
}

function schedule({ query }: ApiRequest, { clock, moments, missed, names, catalog, suspensions }: V2Parts): Reply {
  const from = momentIn(query, 'from') ?? clock.now();
  const to = momentIn(query, 'to') ?? from + 7 * dayMs;
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
