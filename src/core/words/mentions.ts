import type { Step, Workflow } from '../workflow.ts';

/** The variables that texts mention. */
export type Mentions = {
  readonly names: ReadonlySet<string>;
  /** The highest `$1`, `$2`...; infinite if all parameters are meant (`$@`, `$*`, `$#`), 0 if none is. */
  readonly position: number;
};

/** `$NAME`, `${NAME...`, `${#NAME`, `${!NAME`; `$1`, `${10}`; `$@`, `$*`, `$#`; the words of `$((...))`. */
const reference =
  /\$(?:\{[#!]?([A-Za-z_]\w*)|([A-Za-z_]\w*)|([1-9])|\{[#!]?([1-9]\d*)|(\{?[#!]?[@*]|#|\{#\})|\(\(([\s\S]*?)\)\))/g;

/** How the shell and other languages read their arguments without naming positions. */
const readsArguments = /\b(?:shift|getopts|argv|ARGV)\b/;

/**
 * The variables that texts mention, in whatever language: quotes and escapes hide nothing, since a text between single
 * quotes may be meant for another shell.
 */
export function mentionsIn(texts: Iterable<string>): Mentions {
  const names = new Set<string>();
  let position = 0;
  for (const text of texts) {
    for (const [, braced, plain, digit, number, all, arithmetic] of text.matchAll(reference)) {
      const name = braced ?? plain;
      if (name !== undefined) names.add(name);
      else if (all !== undefined) position = Number.POSITIVE_INFINITY;
      else if (arithmetic !== undefined) for (const [word] of arithmetic.matchAll(/[A-Za-z_]\w*/g)) names.add(word);
      else position = Math.max(position, Number(digit ?? number));
    }
  }
  return { names, position };
}

/** The variables that the texts of a workflow mention, including those of its imports and base file. */
export function workflowMentions(workflow: Workflow): Mentions {
  const { name, file, dir, group, description, tags, schedule, steps, handlers, ...rest } = workflow;
  const actions = [...steps, ...Object.values(handlers)].flatMap((step) => step ?? []);
  const { names, position } = mentionsIn(textsOf([rest, actions.map(withoutWords)]));
  const isRead = actions.some(({ command, script }) => [...textsOf([command, script])].some(isArgumentReader));
  return { names, position: isRead ? Number.POSITIVE_INFINITY : position };
}

function isArgumentReader(text: string): boolean {
  return readsArguments.test(text);
}

/** Leaves out texts written for people, which mention no variables. */
function withoutWords({ name, description, depends, ...rest }: Step): object {
  return rest;
}

/** Every string within a value. */
function* textsOf(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) yield* textsOf(item);
}
