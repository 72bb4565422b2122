import type { WorkflowDetail } from '../api/types.ts';

/** A parameter in the form that starts a workflow. */
export type Field = {
  /** Its name, or its position from 1. */
  readonly key: string;
  readonly label: string;
  /** The default of the file. */
  readonly standard: string;
  /** The default is a command whose output is the value. */
  readonly isEvaluated: boolean;
  /** The file gives no value. */
  readonly isOpen: boolean;
  readonly isPositional: boolean;
};

/** The fields of a form for the parameters of a file. */
export function fieldsOf(params: WorkflowDetail['params']): readonly Field[] {
  return params.map(({ name, value, open }, index) => ({
    key: name ?? String(index + 1),
    label: name ?? `Parameter ${index + 1}`,
    standard: value,
    isEvaluated: value.includes('`'),
    isOpen: open,
    isPositional: name === null,
  }));
}

/**
 * The parameters to start with, each as one entry: `NAME=value`, or a positional value. What was not filled in keeps its
 * default. Positions before a given one are given too, since the API tells positions by their order. Null: none is given.
 */
export function givenParams(
  fields: readonly Field[],
  values: Readonly<Record<string, string>>,
): readonly string[] | null {
  const lastGiven = fields.findLastIndex(({ key, isPositional }) => isPositional && values[key] !== undefined);
  const given = fields.flatMap(({ key, standard, isPositional }, index) => {
    const value = values[key];
    if (isPositional) return index <= lastGiven ? [value ?? standard] : [];
    return value === undefined ? [] : [`${key}=${value}`];
  });
  return given.length === 0 ? null : given;
}

/** The command that starts the same run from a shell. */
export function startCommand(name: string, params: readonly string[] | null): string {
  return ['wf', 'run', quoted(name), ...(params === null ? [] : ['--', ...params.map(quoted)])].join(' ');
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
