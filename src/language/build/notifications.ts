import type { Notification, Workflow } from '#core/workflow.ts';
import type { RawNotification } from '../raw.ts';
import { asList, commaList } from '../raw.ts';
import { toMs } from './build-policies.ts';
import { fixedNumber, notifyNumberTextsOf } from './number-texts.ts';

/** The notifications of a workflow with their defaults. */
export function notifyOf(list: readonly RawNotification[]): Pick<Workflow, 'notify'> {
  return list.length === 0 ? {} : { notify: list.map(notificationOf) };
}

function notificationOf(raw: RawNotification): Notification {
  const { body = null } = raw;
  return {
    to: raw.to ?? 'webhook',
    url: raw.url ?? '',
    on: raw.on === undefined ? ['failure'] : (asList(raw.on) as Notification['on']),
    title: raw.title ?? null,
    message: raw.message ?? null,
    lines: fixedNumber(raw.lines) ?? 5,
    timeoutMs: toMs(fixedNumber(raw.timeoutSec) ?? 10),
    ...notifyNumberTextsOf(raw),
    method: raw.method ?? 'POST',
    headers: Object.entries(raw.headers ?? {}).map(([name, value]) => ({ name, value })),
    body: typeof body === 'object' && body !== null ? JSON.stringify(body) : body,
    secret: raw.secret ?? null,
    priority: raw.priority ?? null,
    tags: commaList(raw.tags),
    token: raw.token ?? null,
  };
}
