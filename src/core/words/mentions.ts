import { isItemVariable } from '../fan-out/items.ts';
import { allSteps, type Step, type Workflow } from '../workflow.ts';

/** The variables that texts mention. */
type Mentions = {
  readonly names: ReadonlySet<string>;
  /** The highest `$1`, `$2`...; infinite if all parameters are meant (`$@`, `$*`, `$#`), 0 if none is. */
  readonly position: number;
};

/** `$NAME`, `${NAME...`, `${#NAME`, `${!NAME`; `$1`, `${10}`; `$@`, `$*`, `$#`; the words of `$((...))`. */
const REFERENCE =
  /\$(?:\{[#!]?([A-Za-z_]\w*)|([A-Za-z_]\w*)|([1-9])|\{[#!]?([1-9]\d*)|(\{?[#!]?[@*]|#|\{#\})|\(\(([\s\S]*?)\)\))/g;

/** How the shell and other languages read their arguments without naming positions. */
const READS_ARGUMENTS = /\b(?:shift|getopts|argv|ARGV)\b/;

/**
 * The variables that texts mention, in whatever language: quotes and escapes hide nothing, since a text between single
 * quotes may be meant for another shell.
 */
export function mentionsIn(texts: Iterable<string>): Mentions {
  const names = new Set<string>();
  let position = 0;
  for (const text of texts) {
    for (const [, braced, plain, digit, number, all, arithmetic] of text.matchAll(REFERENCE)) {
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
  const { name, file, dir, group, description, tags, schedule, steps, handlers, documents, ...rest } = workflow;
  const actions = [...steps, ...Object.values(handlers)].flatMap((step) => step ?? []);
  const { names, position } = mentionsIn(textsOf([rest, actions.map(withoutWords)]));
  const code = actions.map(({ command, script }) => [command, script]);
  const isRead = [...textsOf(code)].some((text) => READS_ARGUMENTS.test(text));
  return { names, position: isRead ? Number.POSITIVE_INFINITY : position };
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

/** A workflow, with the parameters of a run as its steps get them: a named one reads `NAME=value`. */
type Names = { readonly workflow: Workflow; readonly params: readonly string[] };

/**
 * The names that a workflow defines: those of its `env`, parameters, secrets, and the outputs of steps and handlers.
 */
export function workflowNames({ workflow, params }: Names): readonly string[] {
  const names = [
    ...workflow.env.map(({ name }) => name),
    ...workflow.params.map(({ name }) => name),
    ...workflow.secrets.map(({ name }) => name),
    ...params.map((param) => /^([A-Za-z_]\w*)=/.exec(param)?.[1]),
    ...allSteps(workflow).flatMap(({ output, approval }) => [
      output,
      ...(approval?.inputs ?? []).map(({ name }) => name),
    ]),
  ];
  return names.filter((name) => typeof name === 'string');
}

/** The names defined for one step: those of its workflow, of the step's own `env`, and of its item. */
export function stepNames({ workflow, params, step }: Names & { readonly step: Step }): ReadonlySet<string> {
  return new Set([...workflowNames({ workflow, params }), ...step.env.map(({ name }) => name), ...itemNames(step)]);
}

/** The variables of its item that an instance of a fan-out mentions. */
export function itemNames(step: Step): readonly string[] {
  if (step.instanceOf === undefined) return [];
  return (JSON.stringify(step).match(/\b(?:WF_)?ITEM\w*/g) ?? []).filter(isItemVariable);
}
