import { mentionsIn } from '#core/words/mentions.ts';
import { quoteWord } from '#core/words/quote-word.ts';
import type { RunHead, WorkflowDetail } from '#run-view/api/types.ts';

/** A parameter in the start form of a workflow. */
export type Field = {
  /** Its name, or its position from 1. */
  readonly key: string;
  readonly label: string;
  /** The default in the file. */
  readonly standard: string;
  /** The default is a command; its output is the value. */
  readonly isEvaluated: boolean;
  /** The file has no default. */
  readonly isOpen: boolean;
  readonly isPositional: boolean;
  /** The values that the parameter accepts; null for a positional one. */
  readonly accepts: WorkflowDetail['parameters'][number] | null;
};

/** A parameter that the file does not declare; positional if it has no name. */
export type FreeParam = { readonly name: string; readonly value: string };

/** The input of the form: values by field keys, where a missing value keeps the default, and further parameters. */
export type Filled = { readonly values: Readonly<Record<string, string>>; readonly free: readonly FreeParam[] };

/** The fields of a form for the parameters of a file. */
export function fieldsOf({ params, parameters }: Pick<WorkflowDetail, 'params' | 'parameters'>): readonly Field[] {
  return params.map(({ name, value, open }, index) => {
    const accepts = parameters.find((parameter) => parameter.name === name) ?? null;
    return {
      key: name ?? String(index + 1),
      label: name ?? `Parameter ${index + 1}`,
      standard: accepts?.default ?? accepts?.eval ?? (accepts === null ? value : ''),
      isEvaluated: value.includes('`') && accepts?.default == null,
      isOpen: open || accepts?.required === true,
      isPositional: name === null,
      accepts,
    };
  });
}

/** The values offered by a field; null if it accepts any text. */
export function choicesOf({ accepts }: Field): readonly string[] | null {
  if (accepts?.choices !== undefined) return accepts.choices;
  return accepts?.type === 'boolean' ? ['true', 'false'] : null;
}

function secretsOf(fields: readonly Field[]): ReadonlySet<string> {
  return new Set(fields.filter(({ accepts }) => accepts?.secret).map(({ key }) => key));
}

/** The same values with secrets hidden, for the commands to copy. */
export function withoutSecrets(fields: readonly Field[], { values, free }: Filled): Filled {
  const secret = secretsOf(fields);
  const shown = Object.entries(values).map(([key, value]) => [key, secret.has(key) ? '***' : value]);
  return { values: Object.fromEntries(shown), free };
}

/** The names that a run accepts as parameters since the file mentions them; null: only declared ones. */
export function acceptedNames({
  definition,
  params,
  env,
  steps,
}: Pick<WorkflowDetail, 'definition' | 'params' | 'env' | 'steps'>): readonly string[] | null {
  const { names, position } = mentionsIn([definition ?? '']);
  const outputs = steps.map(({ output }) => output);
  const own = new Set<unknown>([...params.map(({ name }) => name), ...env.map(({ name }) => name), ...outputs]);
  const free = [...names].filter((name) => !own.has(name));
  return free.length === 0 && position <= params.length ? null : free;
}

/** The values from a link (`p.DAY=2026-03-01`), except secrets. */
export function filledByLink(fields: readonly Field[], query: Readonly<Record<string, string>>): Filled {
  const given = Object.entries(query).flatMap(([key, value]) =>
    key.startsWith('p.') ? [{ name: key.slice(2), value }] : [],
  );
  return filledBy(fields, given);
}

/** The values from the parameters of a past run, except secrets. */
export function filledByRun(fields: readonly Field[], { params }: Pick<RunHead, 'params'>): Filled {
  const given = params.flatMap(({ name, value, masked }, index) =>
    masked ? [] : [{ name: name ?? String(index + 1), value }],
  );
  return filledBy(fields, given);
}

function filledBy(fields: readonly Field[], given: readonly FreeParam[]): Filled {
  const known = new Set(fields.map(({ key }) => key));
  const secret = secretsOf(fields);
  const isPosition = (name: string) => /^\d+$/.test(name);
  return {
    values: Object.fromEntries(
      given.flatMap(({ name, value }) => (known.has(name) && !secret.has(name) ? [[name, value]] : [])),
    ),
    free: given
      .filter(({ name }) => !known.has(name))
      .map(({ name, value }) => ({ name: isPosition(name) ? '' : name, value })),
  };
}

/**
 * The parameters of the start request, each as one entry: `NAME=value`, or a positional value. An empty field keeps its
 * default. Positions before a given one are included, since the API identifies them by their order. Null if there are
 * none.
 */
export function givenParams(fields: readonly Field[], { values, free }: Filled): readonly string[] | null {
  const further = free.filter(({ name, value }) => name !== '' || value !== '');
  const hasFurtherPosition = further.some(({ name }) => name === '');
  const lastGiven = hasFurtherPosition
    ? fields.length
    : fields.findLastIndex(({ key, isPositional }) => isPositional && values[key] !== undefined);
  const declared = fields.flatMap(({ key, standard, isPositional }, index) => {
    const value = values[key];
    if (isPositional) return index <= lastGiven ? [value ?? standard] : [];
    return value === undefined ? [] : [`${key}=${value}`];
  });
  const given = [...declared, ...further.map(({ name, value }) => (name === '' ? value : `${name}=${value}`))];
  return given.length === 0 ? null : given;
}

/** The command that starts the same run from a shell. */
export function startCommand(name: string, params: readonly string[] | null): string {
  return ['wf', 'run', quoteWord(name), ...(params === null ? [] : ['--', ...params.map(quoteWord)])].join(' ');
}

/** The command that sends the same request from a shell. */
export function startRequest(address: string, params: readonly string[] | null): string {
  const body = params === null ? '{}' : JSON.stringify({ params });
  return `curl -X POST -H 'Content-Type: application/json' -d ${quoteWord(body)} ${quoteWord(address)}`;
}

/** The problem of one parameter, from the problems of a start. */
export function faultOf(name: string, message: string): string | null {
  return message.split('\n').find((line) => line.includes(`"${name}"`)) ?? null;
}
