import { createHmac } from 'node:crypto';
import type { RunSummary } from '#core/summary/summary.ts';
import { expandText } from '#core/words/interpolate.ts';
import type { Json, Notification, NotificationEvent } from '#core/workflow.ts';
import { headerPairs, type Pairs, SettingProblem } from '#executors/http/header-fields.ts';
import { expandJson } from '#executors/http/json-template.ts';
import { urlLogin } from '#executors/http/url-login.ts';
import type { Message } from './deliver.ts';
import { cut, type Part } from './run-text.ts';

/** The content of a notification. */
export type Content = {
  readonly event: NotificationEvent;
  readonly title: string;
  readonly parts: readonly Part[];
  /** The run on the daemon's page; null: no address is known. */
  readonly runUrl: string | null;
  readonly summary: RunSummary;
};

type Scope = (name: string) => string | undefined;

/** Limits of the services, in characters; for ntfy in bytes. */
const most = { slack: 4000, teams: 10_000, discordTitle: 256, discord: 4096, ntfy: 4000 };

const json: Pairs = [['content-type', 'application/json']];

/** The request for a notification, as the service documents it. Throws a `SettingProblem` or a `PathProblem`. */
export function messageFor(notification: Notification, scope: Scope, content: Content): Message {
  const address = addressOf(expandText(notification.url, scope).trim());
  const post = (body: Json): Message => ({ ...address, method: 'POST', body: JSON.stringify(body) });
  switch (notification.to) {
    case 'slack':
      return post({ text: slackText(content) });
    case 'teams':
      return post({ type: 'message', attachments: [teamsCard(content)] });
    case 'discord':
      return post({ embeds: [discordEmbed(content)], allowed_mentions: { parse: [] } });
    case 'ntfy':
      return ntfyMessage(notification, address, { scope, content });
    case 'webhook':
      return webhookMessage(notification, address, { scope, content });
  }
}

type Address = Pick<Message, 'url' | 'headers'>;

/** The message never shows the URL, which is a secret. */
function addressOf(text: string): Address {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new SettingProblem(`its "url" ${text === '' ? 'is empty' : 'does not begin with http:// or https://'}`);
  }
  const login = urlLogin(url);
  url.username = '';
  url.password = '';
  url.hash = '';
  const headers: Pairs = [['user-agent', 'wf'], ...json];
  return { url, headers: login === null ? headers : [...headers, ['authorization', login]] };
}

/** Escaping turns mentions (`<!channel>`) into text. */
function slackText({ title, parts, runUrl }: Content): string {
  const escaped = (text: string) => text.replace(/[&<>]/g, (sign) => slackEscapes[sign] ?? sign);
  const lines = [`*${escaped(title)}*`, ...parts.map((part) => escaped(markdown(part)))];
  return [cut(lines.join('\n'), most.slack), ...(runUrl === null ? [] : [`<${escaped(runUrl)}|Open the run>`])].join(
    '\n',
  );
}

const slackEscapes: { readonly [sign: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function markdown(part: Part): string {
  return 'text' in part ? part.text : `\`\`\`\n${part.lines.join('\n').replaceAll('```', "'''")}\n\`\`\``;
}

/** An Adaptive Card. Mentions need entities, and it has none. */
function teamsCard({ title, parts, runUrl }: Content): Json {
  const block = (text: string, look: { readonly [key: string]: Json }) => ({
    type: 'TextBlock',
    text,
    wrap: true,
    ...look,
  });
  const body = parts.map((part) =>
    // A single line break is none in a card.
    'text' in part
      ? block(cut(part.text, most.teams).replaceAll('\n', '\n\n'), {})
      : block(part.lines.join('\n\n'), { fontType: 'Monospace', spacing: 'Small' }),
  );
  const actions = runUrl === null ? [] : [{ type: 'Action.OpenUrl', title: 'Open the run', url: runUrl }];
  return {
    contentType: 'application/vnd.microsoft.card.adaptive',
    contentUrl: null,
    content: {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body: [block(title, { weight: 'Bolder', size: 'Medium' }), ...body],
      ...(actions.length === 0 ? {} : { actions }),
    },
  };
}

const colors: { readonly [event in NotificationEvent]: number } = {
  failure: 0xd1242f,
  success: 0x1a7f37,
  recovery: 0x1a7f37,
  cancel: 0x9a6700,
  skipped: 0x59636e,
  waiting: 0x8250df,
};

function discordEmbed({ event, title, parts, runUrl }: Content): Json {
  return {
    title: cut(title, most.discordTitle),
    description: cut(parts.map(markdown).join('\n'), most.discord),
    color: colors[event],
    ...(runUrl === null ? {} : { url: runUrl }),
  };
}

type Texts = { readonly scope: Scope; readonly content: Content };

const priorities: readonly string[] = ['', 'min', 'low', 'default', 'high', 'max'];

/** Published as JSON to the root of the server, since headers cannot hold every text. */
function ntfyMessage(notification: Notification, { url, headers }: Address, { scope, content }: Texts): Message {
  const [, root = '/', topic = ''] = /^(.*\/)([^/]+)\/*$/.exec(url.pathname) ?? [];
  if (topic === '') throw new SettingProblem('its "url" has no topic');
  const token = expandText(notification.token ?? '', scope);
  const tags = notification.tags.map((tag) => expandText(tag, scope)).filter((tag) => tag !== '');
  const priority = priorityOf(expandText(notification.priority ?? '', scope).trim());
  const body = {
    topic: decodeURIComponent(topic),
    title: content.title,
    message: cutBytes(plainText(content.parts), most.ntfy),
    ...(tags.length === 0 ? {} : { tags }),
    ...(priority === null ? {} : { priority }),
    ...(content.runUrl === null ? {} : { click: content.runUrl }),
  };
  const login = headerPairs({ headers: token === '' ? {} : { authorization: `Bearer ${token}` } });
  const target = new URL(url);
  target.pathname = root;
  return { url: target, method: 'POST', headers: [...headers, ...login], body: JSON.stringify(body) };
}

function priorityOf(text: string): number | null {
  if (text === '') return null;
  const number = text === 'urgent' ? 5 : Math.max(priorities.indexOf(text), Number(text) || 0);
  if (Number.isInteger(number) && number >= 1 && number <= 5) return number;
  throw new SettingProblem(`its "priority" is ${JSON.stringify(text)}, not min, low, default, high, max or 1 to 5`);
}

function webhookMessage(notification: Notification, address: Address, { scope, content }: Texts): Message {
  const { event, title, parts, runUrl: url, summary: run } = content;
  const { body: template, secret } = notification;
  const body =
    template === null
      ? JSON.stringify({ event, text: `${title}\n${plainText(parts)}`, url, run })
      : bodyOf(template, scope);
  const key = secret === null ? '' : expandText(secret, scope);
  if (secret !== null && key === '') throw new SettingProblem('its "secret" is empty');
  const given = headerPairs({
    headers: Object.fromEntries(notification.headers.map(({ name, value }) => [name, expandText(value, scope)])),
  });
  const isGiven = (name: string) => given.some(([other]) => other.toLowerCase() === name);
  const signature = createHmac('sha256', key).update(body).digest('hex');
  return {
    url: address.url,
    method: methodOf(expandText(notification.method, scope)),
    headers: [
      ...address.headers.filter(([name]) => !isGiven(name)),
      ...given,
      ...(key === '' ? [] : [['x-wf-signature', `sha256=${signature}`] as const]),
    ],
    body,
  };
}

/** In JSON a value stays within its string. */
function bodyOf(template: string, scope: Scope): string {
  return /^\s*[[{]/.test(template) ? expandJson(template, scope) : expandText(template, scope);
}

function methodOf(text: string): string {
  const method = text.trim().toUpperCase();
  if (/^(?:POST|PUT|PATCH|DELETE|GET)$/.test(method)) return method;
  throw new SettingProblem(`its "method" is ${JSON.stringify(text)}, which is not a method such as POST or PUT`);
}

function plainText(parts: readonly Part[]): string {
  return parts
    .map((part) => ('text' in part ? part.text : part.lines.map((line) => `  ${line}`).join('\n')))
    .join('\n');
}

/** A longer text would become an attachment. */
function cutBytes(text: string, bytes: number): string {
  return Buffer.byteLength(text) <= bytes
    ? text
    : `${Buffer.from(text)
        .subarray(0, bytes - 3)
        .toString()
        .replace(/\ufffd$/, '')}...`;
}
