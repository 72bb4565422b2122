import { parseSpan } from '#core/time-text.ts';
import type { Json } from '#core/workflow.ts';
import type { MapEntry, MapNode, Node } from '../read/node.ts';
import { canonicalKey } from '../schema/schema-type.ts';
import {
  type Action,
  type ActionStep,
  needed,
  path,
  pause,
  program,
  type Reading,
  type Route,
  type Settings,
  seconds,
  words,
} from './action-steps.ts';
import { fileActions } from './file-actions.ts';
import { entry, type Field, Fields, jsonOf, list, map, scalar, textIn } from './form-nodes.ts';

/** Keys of settings that have another name in `container`. */
const CONTAINER_KEYS: { readonly [key: string]: string } = { containername: 'name', pull: 'pullPolicy' };
/** Keys of settings that only the executor `docker` has. */
const DOCKER_KEYS = ['container', 'host', 'exec'];

/** The actions with a counterpart in wf. */
const actions: { readonly [name: string]: Action } = {
  noop: ({ at }) => [entry('command', at, scalar('true', at))],
  exec: (all) => {
    const args = all.given.take('args');
    return words(all, [needed(all, 'command'), ...(args?.value.kind === 'list' ? args.value.items : [])]);
  },
  'log.write': (all) => words(all, ['printf', '%s\\n', needed(all, 'message')], ['level']),
  'http.request': (all) => {
    const { given, at } = all;
    const method = given.take('method')?.value ?? scalar('GET', at);
    const url = needed(all, 'url');
    const text = `${textIn(method)} ${textIn(url)}`;
    // Quotes and blanks in a list need no escapes.
    const isPlain = /^\S+ [^\s'"\\`]+$/.test(text);
    const command = isPlain ? [entry('command', at, scalar(text, url))] : words(all, [method, url]);
    return [...executor(all, 'http'), ...command];
  },
  'docker.run': container,
  'container.run': container,
  'ssh.run': (all) => {
    const { given, at } = all;
    const command = needed(all, 'command');
    const strict = given.take('strict_host_key');
    if (strict !== null) given.add(entry('strictHostKeyChecking', strict.key, strict.value));
    return [...executor(all, 'ssh'), entry('command', at, command)];
  },
  'mail.send': (all) => executor(all, 'mail'),
  'jq.filter': (all) => {
    const { given, at } = all;
    const filter = needed(all, 'filter');
    const input = given.take('input');
    const data = given.take('data');
    if (input !== null && data !== null) conflict(all, input.key, 'input', 'data');
    if (input !== null) {
      const raw = textIn(given.take('raw')?.value) === 'true' ? ['-r'] : [];
      return words(all, ['jq', ...raw, filter, input.value]);
    }
    if (data === null) all.reading.report('missing-key', at, `the action "${all.action}" needs "data" or "input"`);
    const json = data === null ? 'null' : (textIn(data.value) ?? JSON.stringify(jsonOf(data.value)));
    const script = entry('script', data?.key ?? at, scalar(json, data?.value ?? at));
    return [...executor(all, 'jq'), entry('command', at, filter), script];
  },
  'template.render': (all) => {
    const template = needed(all, 'template');
    const data = all.given.take('data')?.value;
    const output = all.given.take('output');
    const file = output === null ? [] : [entry('stdout', output.key, output.value)];
    return [...file, ...words(all, ['printf', '%s', rendered(all, template, data)])];
  },
  'dag.run': (all) => {
    const dag = needed(all, 'dag');
    const params = all.given.take('params');
    return [entry('run', all.at, dag), ...(params === null ? [] : [childParams(params)])];
  },
  'dag.enqueue': (all) => {
    const dag = needed(all, 'dag');
    const params = all.given.take('params')?.value;
    const given = params === undefined ? [] : params.kind === 'map' ? params.entries.map(assignment) : [params];
    return words(all, ['wf', 'run', '--detach', dag, ...(given.length === 0 ? [] : ['--', ...given])]);
  },
  'human.task': (all) => {
    const prompt = all.given.take('prompt');
    const form = all.given.take('form');
    const id = textIn(all.step.get('id')?.value);
    if (id !== null) all.reading.humans.add(id);
    if (prompt === null) all.reading.report('missing-key', all.at, `the action "${all.action}" needs "prompt"`);
    const input = form?.value.kind === 'map' ? [entry('input', form.key, declarationsOf(form.value))] : [];
    const question = prompt === null ? [] : [entry('prompt', prompt.key, prompt.value)];
    return [entry('approval', all.at, map([...question, ...input], all.key))];
  },
  'router.route': (all) => {
    const value = needed(all, 'value');
    const routes = all.given.take('routes');
    const router = textIn(all.step.get('name')?.value) ?? textIn(all.step.get('id')?.value);
    if (router === null) all.reading.report('missing-key', all.at, 'a router needs an "id"');
    for (const { key, value: targets } of routes?.value.kind === 'map' ? routes.value.entries : []) {
      if (key === null) continue;
      addRoutes(all, { at: key, router: router ?? '', value, pattern: scalar(textIn(key) ?? '', key) }, targets);
    }
    return words(all, ['echo', 'Router evaluating:', value]);
  },
  'outputs.write': (all) => {
    const values = needed(all, 'values');
    return [entry('output', all.key, withTexts(values)), entry('command', all.at, scalar('true', all.at))];
  },
  'wait.duration': (all) => {
    const duration = needed(all, 'duration');
    const text = textIn(duration) ?? '';
    const spanMs = parseSpan(text);
    if (spanMs === null && !/^\d+(?:\.\d+)?$|\$/.test(text)) {
      const help = 'Write seconds, or a length such as 90s or 2d12h.';
      all.reading.report('wrong-value', duration, `"duration" cannot be "${text}"`, { help });
    }
    return words(all, ['sleep', spanMs === null ? duration : scalar(String(spanMs / 1000), duration)]);
  },
  'wait.until': (all) =>
    program(all, 'then=$(date -d "$1" +%s)\nnow=$(date +%s)\n[ "$then" -le "$now" ] || sleep "$((then - now))"', [
      needed(all, 'until'),
    ]),
  'wait.file': (all) => {
    const state = textIn(all.given.take('state')?.value) ?? 'exists';
    const test = state === 'missing' || state === 'absent' ? '! [ -e "$1" ]' : '[ -e "$1" ]';
    return program(all, `until ${test}; do sleep "$2"; done`, [path(all, 'path'), pause(all)]);
  },
  'wait.http': (all) => {
    const status = all.given.take('status')?.value ?? scalar('200', all.at);
    const method = all.given.take('method')?.value ?? scalar('GET', all.at);
    const limit = all.given.take('request_timeout')?.value ?? scalar('10', all.at);
    const curl = `curl -s -o /dev/null -m "$4" -w '%{http_code}' -X "$3" -- "$1"`;
    const args = [needed(all, 'url'), status, method, seconds(limit), pause(all)];
    return program(all, `until [ "$(${curl})" = "$2" ]; do sleep "$5"; done`, args);
  },
  ...fileActions,
  'git.checkout': (all) => {
    const ref = all.given.take('ref')?.value ?? scalar('', all.at);
    const depth = all.given.take('depth')?.value ?? scalar('', all.at);
    const lines = [
      '[ -e "$2/.git" ] || git clone --no-checkout ${4:+--depth "$4"} -- "$1" "$2"',
      'git -C "$2" fetch ${4:+--depth "$4"} -- "$1" "${3:-HEAD}"',
      'git -C "$2" checkout --detach FETCH_HEAD',
    ];
    return program(all, lines.join('\n'), [needed(all, 'repository'), path(all, 'path'), ref, depth]);
  },
};

/** Actions without a counterpart, and what to write instead; a name that ends with a dot stands for all that begin so. */
const UNSUPPORTED = `
k8s. kubernetes. => Write a command with "kubectl".
postgres. => Write a command with "psql".
sqlite. => Write a command with "sqlite3".
duckdb. => Write a command with "duckdb".
redis. => Write a command with "redis-cli".
s3. => Write a command, such as "aws s3 cp".
sftp. => Write a command with "scp" or "sftp".
git.worktree. => Write a command with "git worktree".
chat. agent. harness. llm. decision. browser. computer. => Write a command, or a step with "action: http.request".
mailbox. => Write a command with a program that reads mail.
data. xlsx. => Write a command with a program that reads such files.
js. => Write a command with "node".
python. => Write a command with "python3".
state. => Write a command that reads and writes a file.
`;

/** Whether an action has a counterpart in wf. */
export function isKnownAction(name: string): boolean {
  return Object.hasOwn(actions, name);
}

/** The names of the actions that have one. */
export function actionNames(): readonly string[] {
  return Object.keys(actions);
}

/** What to write instead of an action of Dagu that wf has not; null for any other name. */
export function unsupported(name: string): string | null {
  if (name.includes('@')) return null;
  for (const line of UNSUPPORTED.trim().split('\n')) {
    const [names = '', help = ''] = line.split(' => ');
    const isMeant = (known: string) => (known.endsWith('.') ? name.startsWith(known) : name === known);
    if (names.split(' ').some(isMeant)) return help;
  }
  return null;
}

/** The entries for an action of `actionNames` with these settings; none for any other. */
export function entriesOf(settings: Settings): readonly MapEntry[] {
  return actions[settings.action]?.(settings) ?? [];
}

/** The entries of a step for its action. Settings that the action has not are reported. */
export function stepOfAction({ name, at, step, settings }: ActionStep, reading: Reading): readonly MapEntry[] {
  const given = new Fields(settings?.value.kind === 'map' ? settings.value.entries : []);
  const key = settings?.key ?? at;
  if (settings !== null && settings.value.kind !== 'map')
    reading.report('wrong-type', settings.value, '"with" must be a map');
  const entries = entriesOf({ action: name, at, key, given, step, reading });
  for (const left of given.rest) {
    const label = `"${textIn(left.key)}" in the "with" of "${name}"`;
    reading.report('not-supported', left.key ?? at, `${label} is not supported`, { label: 'not supported' });
  }
  return entries;
}

/** The entries of a list for the values that a JSON Schema of an object declares. */
export function declarationsOf(schema: MapNode): Node {
  const fields = new Fields(schema.entries);
  const properties = fields.get('properties')?.value;
  const required = fields.get('required')?.value;
  const names = new Set(required?.kind === 'list' ? required.items.map(textIn) : []);
  const declared = (properties?.kind === 'map' ? properties.entries : []).flatMap(({ key, value }) => {
    if (key === null) return [];
    const own = new Fields(value?.kind === 'map' ? value.entries : []);
    own.take('title');
    const choices = own.take('oneof');
    if (choices?.value.kind === 'list')
      own.add(entry('enum', choices.key, list(choices.value.items.map(constant), choices.value)));
    if (own.get('type') === null) own.add(entry('type', key, scalar('string', key)));
    if (names.has(textIn(key)) && own.get('default') === null) own.add(entry('required', key, scalar('true', key)));
    return [map([entry('name', key, scalar(textIn(key) ?? '', key)), ...own.rest], value ?? key)];
  });
  return list(declared, schema);
}

/** The published values of a step, in whose texts variables are replaced. */
export function withTexts(values: Node): Node {
  if (values.kind !== 'map') return values;
  const entries = values.entries.map((found) => {
    const { key, value } = found;
    const text = textIn(value);
    if (key === null || value === null || text?.includes('$') !== true) return found;
    return { key, value: map([entry('from', key, scalar('text', value)), { key: scalar('text', key), value }], value) };
  });
  return map(entries, values);
}

/** The value of a choice, `{const, title}`. */
function constant(choice: Node): Node {
  return (choice.kind === 'map' ? new Fields(choice.entries).get('const')?.value : null) ?? choice;
}

/** The settings that are left, as those of an executor, which reports unknown ones. */
function executor({ given, at, key }: Settings, type: string): readonly MapEntry[] {
  const config = given.rest.length === 0 ? [] : [entry('config', key, map(given.rest, key))];
  const value = map([entry('type', at, scalar(type, at)), ...config], at);
  for (const { key: taken } of given.rest) given.take(canonicalKey(textIn(taken) ?? ''));
  return [entry('executor', at, value)];
}

/** A container for the command: `container` of a step, or the settings of the executor `docker`. */
function container(all: Settings): readonly MapEntry[] {
  const { given, at, key } = all;
  const command = given.take('command');
  const work = command === null ? [] : [entry('command', command.key, command.value)];
  if (DOCKER_KEYS.some((name) => given.get(name)?.value.kind === 'map')) return [...executor(all, 'docker'), ...work];
  const remove = given.take('auto_remove');
  const isKept = remove !== null && textIn(remove.value) === 'false';
  const kept = isKept ? [entry('keepContainer', remove.key, scalar('true', remove.value))] : [];
  const entries = given.rest.map((found) => {
    const name = CONTAINER_KEYS[canonicalKey(textIn(found.key) ?? '')];
    return name === undefined || found.key === null || found.value === null
      ? found
      : entry(name, found.key, found.value);
  });
  for (const { key: taken } of given.rest) given.take(canonicalKey(textIn(taken) ?? ''));
  return [entry('container', at, map([...entries, ...kept], key)), ...work];
}

/** Parameters by name, one in each entry: a map with only the key `json` would be a JSON text. */
function childParams({ key, value }: Field): MapEntry {
  if (value.kind !== 'map') return entry('params', key, value);
  const items = value.entries.map((found) => {
    const inner = found.value;
    const isNested = inner?.kind === 'map' || inner?.kind === 'list';
    const text = isNested ? scalar(JSON.stringify(jsonOf(inner)), inner) : inner;
    return map([{ key: found.key, value: text }], found.key ?? value);
  });
  return entry('params', key, list(items, value));
}

function assignment({ key, value }: MapEntry): Node {
  const text = value === null ? '' : (textIn(value) ?? JSON.stringify(jsonOf(value)));
  return scalar(`${textIn(key) ?? ''}=${text}`, value ?? key ?? { start: 0, end: 0 });
}

function addRoutes({ reading }: Settings, route: Route, targets: Node | null): void {
  const pattern = textIn(route.pattern) ?? '';
  if (pattern.startsWith('num:')) {
    const help = 'Give the steps "preconditions" with a command such as: test "$VALUE" -ge 9.';
    reading.report('not-supported', route.at, 'a route that compares numbers is not supported', { help });
  }
  for (const target of targets?.kind === 'list' ? targets.items : [targets]) {
    const name = textIn(target);
    if (target === null || name === null) continue;
    if (reading.routes.has(name)) reading.report('conflicting-keys', target, `step "${name}" has several routes`);
    else reading.routes.set(name, route);
  }
}

function conflict({ reading, action }: Settings, at: Node, one: string, other: string): void {
  reading.report('conflicting-keys', at, `the action "${action}" has both "${one}" and "${other}"`);
}

/** Fields of a template, `{{ .name }}` and `{{ .a.b }}`, with the data from the file; anything else is reported. */
function rendered(all: Settings, template: Node, data: Node | undefined): Node {
  const values = data === undefined ? null : jsonOf(data);
  const text = (textIn(template) ?? '').replaceAll(/\{\{(-?)\s*(.*?)\s*(-?)\}\}/gs, (written, before, code, after) => {
    const found = before || after || !/^(?:\.\w+)+$/.test(code) ? undefined : fieldOf(values, code.split('.').slice(1));
    if (found !== undefined) return typeof found === 'object' ? JSON.stringify(found) : String(found);
    const help = 'Known are fields of "data": {{ .name }}. Write a command with a template program for more.';
    all.reading.report('not-supported', template, `"${written}" in a template is not supported`, { help });
    return '';
  });
  return scalar(text, template);
}

function fieldOf(value: Json, names: readonly string[]): Json | undefined {
  let found: Json | undefined = value;
  for (const name of names) {
    if (typeof found !== 'object' || found === null || Array.isArray(found) || !Object.hasOwn(found, name))
      return undefined;
    found = (found as { readonly [key: string]: Json })[name];
  }
  return found;
}
