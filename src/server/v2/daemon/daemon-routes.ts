import type { Credentials, User, Visitor } from '../../access/sessions.ts';
import { type Handler, HttpError, jsonReply, noContent, readBody, readQuery } from '../../route.ts';
import { namedRun, readMoment, requirePeriod, type V2Handler, type V2Parts } from '../v2-parts.ts';

/** `GET /api/v2/activity`. */
export const showActivity: V2Handler = async ({ query }, { history, clock }) => {
  const { hours } = readQuery('showActivity', query);
  const counts = await history.countByHour({ now: clock.now(), hours });
  return jsonReply({ hours: counts.map(({ from, statuses }) => ({ from: new Date(from), statuses })) });
};

/** `GET /api/v2/info`. */
export const showInfo: V2Handler = async ({ access }, { info, loopLag, disk }) =>
  jsonReply({ ...info(), access, eventLoopLagMs: loopLag(), disk: await disk() });

/** `GET /api/v2/config`. */
export const showConfig: V2Handler = (_, { settings }) => jsonReply(settings());

/** `GET /api/v2/queue`. */
export const showQueue: V2Handler = async (_, parts) => {
  await parts.runIndex.refresh();
  return jsonReply(queueJson(parts));
};

/** `GET /api/v2/locks`. */
export const showLocks: V2Handler = async (_, { locks }) => jsonReply({ locks: await locks() });

/** `PUT /api/v2/queue/{id}`. */
export const moveInQueue: V2Handler = async ({ params: { id = '' }, body }, parts) => {
  readBody('moveInQueue', body);
  const { runId } = await namedRun(id, parts);
  await parts.runIndex.refresh();
  if (!parts.putFirst(runId)) throw new HttpError(409, `the run ${runId} does not wait`);
  return jsonReply(queueJson(parts));
};

function queueJson({ queue, runIndex }: V2Parts): object {
  const { limit, running, waiting } = queue();
  const heads = (runIds: readonly string[]) => runIds.flatMap((runId) => runIndex.headOf(runId) ?? []);
  // JSON writes an infinite limit as null.
  return { limit, running: heads(running), waiting: heads(waiting) };
}

const WEEK_MS = 7 * 86_400_000;
const MAX_MOMENTS = 1000;
/** The number of scheduled times in an event of the stream of all changes. */
const MAX_NEXT_MOMENTS = 50;

/** `GET /api/v2/schedule`. */
export const showSchedule: V2Handler = async ({ query }, parts) => {
  const given = readQuery('showSchedule', query);
  const start = readMoment('from', given.from) ?? parts.clock.now();
  const { from, to } = requirePeriod({ from: start, to: readMoment('to', given.to) ?? start + WEEK_MS });
  return jsonReply(await scheduleView(from, to, MAX_MOMENTS, parts));
};

/** The next times of all schedules; the stream of all changes sends fewer of them than a request returns. */
export function nextMoments(parts: V2Parts): Promise<object> {
  const from = parts.clock.now();
  return scheduleView(from, from + WEEK_MS, MAX_NEXT_MOMENTS, parts);
}

async function scheduleView(from: number, to: number, limit: number, parts: V2Parts): Promise<object> {
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

/** `GET /api/v2/session`. */
export const showSession: Handler = ({ visitor }) => jsonReply(sessionJson(visitor, visitor.user()));

/** `POST /api/v2/session`. */
export const logIn: Handler = ({ visitor, body }) => {
  const given = credentials(body);
  if (visitor.logins.length === 0) return jsonReply(sessionJson(visitor, visitor.user()));
  const { user, cookie } = visitor.logIn(given);
  return { ...jsonReply(sessionJson(visitor, user)), headers: { 'Set-Cookie': cookie } };
};

/** `DELETE /api/v2/session`. */
export const logOut: Handler = ({ visitor }) => noContent({ 'Set-Cookie': visitor.logOut() });

function credentials(body: unknown): Credentials {
  const { token, name, password } = readBody('logIn', body);
  if (token !== null && name === null && password === null) return { pair: null, token };
  if (token === null && password !== null) return { pair: `${name ?? ''}:${password}`, token: password };
  throw new HttpError(400, 'a login is a "token", or a "name" with a "password"');
}

function sessionJson({ logins }: Visitor, user: User | null): object {
  return {
    logins: [
      ...(logins.some(({ kind }) => kind === 'basic') ? ['password'] : []),
      ...(logins.some(({ kind }) => kind !== 'basic') ? ['token'] : []),
    ],
    access: user?.to ?? null,
    name: user?.name ?? null,
    csrf: user?.session?.csrf ?? null,
  };
}
