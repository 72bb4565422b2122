import { createHmac, randomUUID } from 'node:crypto';
import { given } from '#core/data/collections.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import { expandText } from '#core/words/interpolate.ts';
import type { Json, Notification, NotificationEvent } from '#core/workflow.ts';
import type { Attached } from '#engine/engine.ts';
import { headerPairs, type Pairs, SettingProblem, urlLogin } from '#executors/http/header-fields.ts';
import { type RequestEnd, type RequestOptions, sendRequest } from '#executors/http/http-request.ts';
import { expandJson } from '#executors/http/json-template.ts';
import {
  failurePath,
  failureReason,
  failuresIn,
  formatDuration,
  lateTexts,
  pendingApprovals,
  stripControls,
  utcTime,
} from '#render/text.ts';

/** A part of a message: a text, or lines of output. */
type Part = { readonly text: string } | { readonly lines: readonly string[] };

/** Limits of the default message: failed steps with their last lines, and characters of a line. */
const most = { failures: 10, lineLength: 300 };

/** The default title of a notification. */
export function runTitle({ workflow, status }: RunSummary, event: NotificationEvent): string {
  if (event === 'recovery') return `${workflow} recovered`;
  if (event === 'waiting') return `${workflow} waits for approval`;
  if (event === 'late') return `${workflow} is late`;
  return `${workflow} ${status.replaceAll('_', ' ')}`;
}

/** The default text: duration, time, what waits for approval with the commands to answer, and the failures with their last lines. */
export function runText(summary: RunSummary): readonly Part[] {
  const { durationMs, finishedAt, reason, error } = summary;
  const { failures, moreFailures } = failuresIn(summary);
  const took = durationMs === null ? [] : [`Took ${formatDuration(durationMs)}`];
  const at = finishedAt === null ? [] : [`finished ${utcTime(finishedAt)}`];
  const head = [...took, ...at].join(', ');
  const parts: Part[] = head === '' ? [] : [{ text: head }];
  for (const { text, approve, reject } of pendingApprovals(summary)) {
    parts.push({ text: stripControls(text) }, { lines: [approve, reject] });
  }
  parts.push(...lateTexts(summary).map((text) => ({ text: stripControls(text) })));
  // The steps that follow say the same, and more.
  if (error !== null && !(reason === 'step' && failures.length > 0)) parts.push({ text: stripControls(error) });
  for (const failure of failures.slice(0, most.failures)) {
    const { lines, command } = failure;
    parts.push({ text: stripControls(`${failurePath(failure)}: ${failureReason(failure)}`) });
    if (lines.length > 0) parts.push({ lines: lines.map((line) => cut(stripControls(line), most.lineLength)) });
    if (command !== null && failure.path.length > 1) parts.push({ text: command });
  }
  const more = moreFailures + Math.max(0, failures.length - most.failures);
  return more > 0 ? [...parts, { text: `and ${more} more failed` }] : parts;
}

/** Shortens a text to a number of characters. */
function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 3)}...` : text;
}

/** A request that delivers a notification. */
export type Message = {
  readonly method: string;
  /** Without credentials, which are in a header. */
  readonly url: URL;
  readonly headers: Pairs;
  readonly body: string | Buffer;
};

/** How to deliver. `pause` waits for the milliseconds, or until the signal is aborted. */
type DeliveryOptions = {
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
};

const MAX_TRIES = 3;
/** Longest wait between two tries, whatever the server asks for. */
const MAX_WAIT_MS = 10_000;

/**
 * Sends the message, up to three times if the connection fails or the server is busy (429) or faulty (5xx). Resolves to
 * the reason why it was not accepted, or null.
 */
export async function deliver(message: Message, options: DeliveryOptions): Promise<string | null> {
  const { env, timeoutMs, signal, pause } = options;
  const request = { env, timeoutMs, signal, skipTlsVerify: null, follows: () => false, holdsSecret: () => true };
  for (let tried = 1; ; tried++) {
    const end = await send(message, request);
    const problem = problemOf(end);
    const mayPass = 'problem' in end || end.head.status === 429 || end.head.status >= 500;
    if (problem === null || !mayPass || tried === MAX_TRIES || signal.aborted) return problem;
    await pause(waitAfter(end, tried), signal);
    if (signal.aborted) return problem;
  }
}

/** Only the status counts; a truncated or oversized body is ignored. */
async function send(message: Message, options: RequestOptions): Promise<RequestEnd> {
  const heads: Extract<RequestEnd, { readonly head: unknown }>['head'][] = [];
  const on = { onHop: () => {}, onHead: (head: (typeof heads)[number]) => void heads.push(head), onBody: () => {} };
  const end = await sendRequest(message, options, on);
  const [head] = heads;
  return head === undefined ? end : { hop: end.hop, head };
}

function problemOf(end: RequestEnd): string | null {
  if ('problem' in end) return end.problem;
  const { status, statusText } = end.head;
  if (status >= 200 && status < 300) return null;
  const redirect = status >= 300 && status < 400 ? ' (redirects are not followed)' : '';
  return `${status} ${statusText}`.trimEnd() + redirect;
}

/** The server's `Retry-After` in seconds, else a second more after each try. */
function waitAfter(end: RequestEnd, tried: number): number {
  const asked = 'problem' in end ? undefined : end.head.headers.find(([name]) => name.toLowerCase() === 'retry-after');
  const seconds = Number(asked?.[1] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(Math.ceil(seconds * 1000), MAX_WAIT_MS) : tried * 1000;
}

/** The content of a notification. */
export type Content = {
  readonly event: NotificationEvent;
  readonly title: string;
  readonly parts: readonly Part[];
  /** The run on the daemon's page; null: no address is known. */
  readonly runUrl: string | null;
  readonly summary: RunSummary;
  /** Artifacts that are sent too. */
  readonly files: Attached['files'];
};

type Scope = (name: string) => string | undefined;

/** Limits of the services, in characters; for ntfy in bytes. */
const lengths = { slack: 4000, teams: 10_000, discordTitle: 256, discord: 4096, ntfy: 4000 };

const json: Pairs = [['content-type', 'application/json']];

/** The request for a notification, as the service documents it. Throws a `SettingProblem` or a `PathProblem`. */
export function messageFor(notification: Notification, scope: Scope, content: Content): Message {
  const address = addressOf(expandText(notification.url, scope).trim());
  const post = (body: Json): Message => ({ ...address, method: 'POST', body: JSON.stringify(body) });
  const { files } = content;
  switch (notification.to) {
    case 'slack':
      return post({ text: slackText(content) });
    case 'teams':
      return post({ type: 'message', attachments: [teamsCard(content)] });
    case 'discord':
      return withFiles(post({ embeds: [discordEmbed(content)], allowed_mentions: { parse: [] } }), files);
    case 'ntfy':
      return ntfyMessage(notification, address, scope, content);
    case 'webhook':
      return webhookMessage(notification, address, scope, content);
  }
}

/**
 * A message with its body and files as the parts of a form (RFC 7578), as Discord documents it: `payload_json`, `files[0]` and so
 * on. Without files it stays as it is.
 */
function withFiles(message: Message, files: Content['files']): Message {
  if (files.length === 0) return message;
  const boundary = `wf-${randomUUID()}`;
  const isType = ([name]: Pairs[number]) => name.toLowerCase() === 'content-type';
  const type = message.headers.find(isType)?.[1] ?? 'application/json';
  const part = (name: string, more: string, content: Buffer) => [
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`),
    content,
    Buffer.from('\r\n'),
  ];
  const body = Buffer.concat([
    ...part('payload_json', `\r\nContent-Type: ${type}`, Buffer.from(message.body)),
    ...files.flatMap(({ name, content }, index) =>
      part(`files[${index}]`, `; filename="${fileName(name)}"\r\nContent-Type: application/octet-stream`, content),
    ),
    Buffer.from(`--${boundary}--\r\n`),
  ]);
  const others = message.headers.filter((pair) => !isType(pair));
  return { ...message, body, headers: [...others, ['content-type', `multipart/form-data; boundary=${boundary}`]] };
}

/** The name of a file in the head of a part, as browsers write it. */
function fileName(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
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
  const link = runUrl === null ? '' : `\n<${escaped(runUrl)}|Open the run>`;
  return cut(lines.join('\n'), lengths.slack) + link;
}

const slackEscapes: { readonly [sign: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

function markdown(part: Part): string {
  return 'text' in part ? part.text : `\`\`\`\n${part.lines.join('\n').replaceAll('```', "'''")}\n\`\`\``;
}

/** An Adaptive Card. Mentions need entities, and it has none. */
function teamsCard({ title, parts, runUrl }: Content): Json {
  const block = (text: string, look: object) => ({ type: 'TextBlock', text, wrap: true, ...look });
  const body = parts.map((part) =>
    // A single line break is none in a card.
    'text' in part
      ? block(cut(part.text, lengths.teams).replaceAll('\n', '\n\n'), {})
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
  late: 0x9a6700,
};

function discordEmbed({ event, title, parts, runUrl }: Content): Json {
  return {
    title: cut(title, lengths.discordTitle),
    description: cut(parts.map(markdown).join('\n'), lengths.discord),
    color: colors[event],
    ...given({ url: runUrl }),
  };
}

const priorities: readonly string[] = ['', 'min', 'low', 'default', 'high', 'max'];

/** Published as JSON to the root of the server, since headers cannot hold every text. */
function ntfyMessage(to: Notification, { url, headers }: Address, scope: Scope, content: Content): Message {
  const [, root = '/', topic = ''] = /^(.*\/)([^/]+)\/*$/.exec(url.pathname) ?? [];
  if (topic === '') throw new SettingProblem('its "url" has no topic');
  const token = expandText(to.token ?? '', scope);
  const tags = to.tags.map((tag) => expandText(tag, scope)).filter((tag) => tag !== '');
  const priority = priorityOf(expandText(to.priority ?? '', scope).trim());
  const body = {
    topic: decodeURIComponent(topic),
    title: content.title,
    message: cutBytes(plainText(content.parts), lengths.ntfy),
    ...(tags.length === 0 ? {} : { tags }),
    ...given({ priority, click: content.runUrl }),
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

function webhookMessage(to: Notification, address: Address, scope: Scope, content: Content): Message {
  const { event, title, parts, runUrl: url, summary: run, files } = content;
  const { body: template, secret } = to;
  const usual = { event, text: `${title}\n${plainText(parts)}`, url, run };
  // In JSON a value stays within its string.
  const expand = template !== null && /^\s*[[{]/.test(template) ? expandJson : expandText;
  const body = template === null ? JSON.stringify(usual) : expand(template, scope);
  const key = secret === null ? '' : expandText(secret, scope);
  if (secret !== null && key === '') throw new SettingProblem('its "secret" is empty');
  const texts = Object.fromEntries(to.headers.map(({ name, value }) => [name, expandText(value, scope)]));
  const own = headerPairs({ headers: texts });
  const isGiven = (name: string) => own.some(([other]) => other.toLowerCase() === name);
  const method = methodOf(expandText(to.method, scope));
  const headers = [...address.headers.filter(([name]) => !isGiven(name)), ...own];
  const message = withFiles({ url: address.url, method, headers, body }, files);
  if (key === '') return message;
  const signature = createHmac('sha256', key).update(message.body).digest('hex');
  return { ...message, headers: [...message.headers, ['x-wf-signature', `sha256=${signature}`]] };
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
  if (Buffer.byteLength(text) <= bytes) return text;
  const start = Buffer.from(text).subarray(0, bytes - 3);
  return `${start.toString().replace(/\ufffd$/, '')}...`;
}
