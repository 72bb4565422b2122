import { didYouMean, nearNames } from '../near-names.ts';
import { type Path, type Problem, problem } from '../problem.ts';
import { asList, type RawNotification } from '../raw.ts';
import { type SpecFile, spotIn } from '../read/spec-file.ts';

const EVENTS = ['failure', 'success', 'cancel', 'skipped', 'waiting', 'recovery', 'always'];
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const PRIORITY = /^(?:[1-5]|min|low|default|high|max|urgent)$/;

/** Keys of one service, which the others do not have. */
const OWN_KEYS = {
  webhook: ['method', 'headers', 'body', 'secret'],
  ntfy: ['priority', 'tags', 'token'],
} as const;

/** Checks `notify` as far as it has no variables. */
export function notificationProblems(file: SpecFile): Problem[] {
  const { notify } = file.raw;
  return asList(notify).flatMap((entry, index) => {
    const path = Array.isArray(notify) ? ['notify', index] : ['notify'];
    const wrong = (key: string | Path, message: string, options: { label?: () => string; help: string }) =>
      problem('wrong-value', spotIn(file, [...path, ...[key].flat()]), message, options);
    return [
      ...eventProblems(entry, wrong),
      ...urlProblems(entry, wrong),
      ...priorityProblems(entry, wrong),
      ...headerProblems(entry, wrong),
      ...foreignKeys(entry).map(({ key, service }) =>
        problem('wrong-value', spotIn(file, [...path, key], 'key'), `"${key}" is only for "to: ${service}"`, {
          help: `Remove it, or write "to: ${service}".`,
        }),
      ),
    ];
  });
}

type Wrong = (key: string | Path, message: string, options: { label?: () => string; help: string }) => Problem;

function eventProblems({ on }: RawNotification, wrong: Wrong): Problem[] {
  return asList(on).flatMap((event, index) => {
    if (EVENTS.includes(event)) return [];
    const label = () => didYouMean(nearNames(event, new Set(EVENTS)));
    const key = Array.isArray(on) ? ['on', index] : ['on'];
    return [wrong(key, `"on" cannot be "${event}"`, { label, help: `One or several of ${EVENTS.join(', ')}.` })];
  });
}

function urlProblems({ to, url = '$' }: RawNotification, wrong: Wrong): Problem[] {
  if (url.includes('$')) return [];
  const parsed = URL.canParse(url.trim()) ? new URL(url.trim()) : null;
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    return [wrong('url', '"url" must begin with http:// or https://', { help: 'For example: "$SLACK_URL".' })];
  }
  if (to !== 'ntfy' || /[^/]/.test(parsed.pathname)) return [];
  return [wrong('url', '"url" has no topic', { help: 'For example: https://ntfy.sh/my-topic' })];
}

function priorityProblems({ priority }: RawNotification, wrong: Wrong): Problem[] {
  if (priority === undefined || priority.includes('$') || PRIORITY.test(priority)) return [];
  const help = 'One of min, low, default, high, max, or a number from 1 to 5.';
  return [wrong('priority', `"priority" cannot be "${priority}"`, { help })];
}

function headerProblems({ headers = {} }: RawNotification, wrong: Wrong): Problem[] {
  return Object.keys(headers).flatMap((name) =>
    HEADER_NAME.test(name)
      ? []
      : [wrong(['headers', name], `"${name}" is not the name of a header`, { help: 'For example: Authorization.' })],
  );
}

function foreignKeys(entry: RawNotification): { readonly key: string; readonly service: string }[] {
  return Object.entries(OWN_KEYS).flatMap(([service, keys]) =>
    entry.to === service || entry.to === undefined
      ? []
      : keys.flatMap((key) => (entry[key] === undefined ? [] : [{ key, service }])),
  );
}
