import { type ActionSettings, settingsOf } from '../forms/action-settings.ts';
import { actionNames } from '../forms/dagu-3-actions.ts';
import { editorSchema } from './editor-schema.ts';
import { documentedSchema } from './schema-doc.ts';
import type { Schema } from './schema-type.ts';

/** A schema with keywords that the one of `wf` does not use. */
type Part = Omit<Schema, 'allOf' | 'properties' | 'items' | 'additionalProperties'> & {
  readonly [keyword: string]: unknown;
};

const TEXT = { type: 'string' };
const TEXTS = { type: ['string', 'array'], items: TEXT };
const MAP = { type: 'object', additionalProperties: true };
const STEPS = { type: 'array', items: { $ref: '#/$defs/step' } };

/**
 * The JSON Schema of files in the form of Dagu 2.15, for editors: that of workflow files, with the keys of the form, and the
 * settings that the reader takes of each action.
 */
export function daguSchema(): object {
  const {
    $id: _,
    title: __,
    ...documented
  } = documentedSchema as Schema & { readonly $id?: string; readonly title?: string };
  const { step = {}, handler = {}, ...defs } = documented.$defs ?? {};
  const whole: Part = {
    ...documented,
    title: 'Dagu 2.15',
    description: 'A workflow of Dagu 2.15, as wf reads it.',
    properties: { ...documented.properties, ...topKeys },
    allOf: [inCase({ not: { required: ['actions'] } }, { properties: knownActionsOnly })],
    $defs: {
      ...defs,
      step: withForm(step, { ...stepKeys, outputs: withFiles(step.properties?.['outputs']), foreach }),
      handler: withForm(handler, stepKeys),
    },
  };
  return editorSchema(inSnakeCase(whole) as Schema);
}

const topKeys = {
  consts: {
    type: 'array',
    items: { type: 'object', minProperties: 1, maxProperties: 1, additionalProperties: TEXT },
    description: 'Constants: maps with one name and its value, referred to as `${consts.NAME}`.',
    examples: [[{ service: 'api' }]],
  },
  actions: {
    type: 'object',
    additionalProperties: {
      type: 'object',
      properties: { description: TEXT, inputSchema: MAP, outputSchema: MAP, template: MAP },
      required: ['inputSchema', 'template'],
      additionalProperties: false,
    },
    description: 'Actions of the file: the schema of their input, and the keys of a step in which it is put.',
  },
  type: {
    type: 'string',
    enum: ['graph', 'chain', 'build', 'incremental'],
    default: 'graph',
    description:
      'How steps follow each other. `build`: steps that make files from files, which do not run if they are up to date.',
  },
  tools: { description: 'Has no effect: `wf` installs no programs.' },
  shell: TEXTS,
  shellArgs: TEXTS,
};

const stream = {
  type: ['string', 'object'],
  properties: { outputs: MAP, artifact: TEXT },
  additionalProperties: false,
};
const FILE = { ...exactly({ name: TEXT, path: TEXT }), required: ['name', 'path'] };

const stepKeys = {
  run: {
    type: ['string', 'array'],
    items: { type: ['string', 'object'], additionalProperties: true },
    description:
      'A command; several lines are a script, a list is several commands, of which a failed one is the last.',
    examples: ['make test', ['npm ci', 'npm test']],
  },
  action: { type: 'string', description: 'What the step does instead of a command.', examples: actionNames() },
  with: { ...MAP, description: 'The settings of `action`; for `run`, `shell` and `shell_args`.' },
  dependencies: { description: 'Has no effect: steps run in the directory of the workflow.' },
  stdout: stream,
  stderr: stream,
  inputs: { type: 'array', items: FILE, description: 'With `type: build`: the files that the step reads.' },
};

const foreach = {
  type: 'object',
  properties: {
    items: { type: ['array', 'string'], items: {}, description: 'The items, or a variable that holds them.' },
    as: { type: 'string', description: 'The name of the item, `item` by default: `${foreach.item}`.' },
    key: { type: 'string', description: 'The text of `${foreach.key}`.' },
    maxConcurrent: { type: 'integer', minimum: 1, description: 'How many items run at once.' },
    steps: { ...STEPS, minItems: 1, description: 'The steps that run for each item.' },
    collect: { ...MAP, description: 'Values of each item, in the `output` of the step.' },
  },
  required: ['items', 'steps'],
  additionalProperties: false,
  description: 'Runs steps once for each item.',
};

const isKnown = { properties: { action: { enum: actionNames() } } };
const knownActionsOnly = {
  steps: { items: isKnown, additionalProperties: isKnown },
  handlerOn: { additionalProperties: isKnown },
};

/** Keys of earlier forms by which a step says what it does. */
const EARLIER = ['command', 'script', 'executor', 'call', 'exec', 'type'];

/** A step or handler with the keys of the form. One that has only `output` publishes values. */
function withForm(schema: Schema, keys: { readonly [key: string]: unknown }): Part {
  const { allOf = [], anyOf = [], ...rest } = schema as Part & { allOf?: readonly Part[]; anyOf?: readonly Part[] };
  const work = [...anyOf, ...allOf.flatMap((part) => (part['anyOf'] as readonly Part[] | undefined) ?? [])];
  const others = allOf.filter((part) => part['anyOf'] === undefined);
  const pairs = [['run', 'action'], ...['run', 'action'].flatMap((key) => EARLIER.map((other) => [key, other]))];
  return {
    ...rest,
    properties: { ...(schema.properties as object), ...keys },
    allOf: [
      { anyOf: [...work, ...['action', 'foreach', 'output'].map((key) => ({ required: [key] }))] },
      ...others,
      ...pairs.map((required) => ({ not: { type: 'object', required } })),
      inCase({ required: ['run'] }, { properties: { with: exactly({ shell: TEXTS, shellArgs: TEXTS }) } }),
      ...actionNames().map((name) => {
        return inCase(
          { properties: { action: { const: name } }, required: ['action'] },
          consequenceOf(settingsOf(name)),
        );
      }),
    ],
  };
}

/** `outputs` whose entries may also be the file that a step writes. */
function withFiles(outputs: Schema = {}): object {
  return { ...outputs, items: { anyOf: [outputs.items ?? {}, FILE] } };
}

function inCase(condition: object, consequence: object): object {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: { type: 'object', ...condition }, then: consequence };
}

function consequenceOf({ names, required, flags, others }: ActionSettings): object {
  const own = names.map((name) => [name, flags.includes(name) ? { type: 'boolean' } : {}]);
  const taken = others.flatMap((other) => Object.entries(documentedSchema.$defs?.[other]?.properties ?? {}));
  const settings = { ...exactly(Object.fromEntries([...taken, ...own])), required };
  return { properties: { with: settings }, ...(required.length === 0 ? {} : { required: ['with'] }) };
}

function exactly(properties: object): object {
  return { type: 'object', properties, additionalProperties: false };
}

/** The schema with the names of keys as this form writes them: `retry_policy`. */
function inSnakeCase(value: unknown, keyword = ''): unknown {
  if (keyword === 'required' && Array.isArray(value)) return value.map(snake);
  if (keyword === 'x-alias-of') return snake(value);
  if (keyword === '$ref') return String(value).replaceAll(/(?<=\/properties\/)[^/]+/g, snake);
  if (Array.isArray(value)) return value.map((item) => inSnakeCase(item));
  if (typeof value !== 'object' || value === null) return value;
  if (DATA.has(keyword)) return value;
  const isNames = keyword === 'properties';
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      isNames ? snake(name) : name,
      inSnakeCase(part, isNames || keyword === '$defs' ? '' : name),
    ]),
  );
}

/** Keywords whose values are no schemas. */
const DATA = new Set(['examples', 'default', 'const', 'enum']);

function snake(name: unknown): string {
  return String(name)
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase();
}
