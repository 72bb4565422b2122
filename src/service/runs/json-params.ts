import { exactJsonObject } from '#core/data/exact-json.ts';
import type { Param } from '#core/run/run.ts';
import { workflowMentions } from '#core/words/mentions.ts';
import type { Json, Workflow } from '#core/workflow.ts';
import type { SubworkflowRequest } from '#executors/executor.ts';
import { parseParamTemplates } from '#language/params.ts';
import { WfError } from '#system/errors.ts';

type ChildParams = Omit<SubworkflowRequest, 'run'> & { readonly expand: (text: string) => string };

/**
 * Reads a JSON object as named parameters, as later versions of Dagu do: if it is the only value without a name, all
 * declared parameters have names, and one of its keys is such a name. Otherwise it is a value like any other, and the
 * same list is returned.
 */
export function namedParams({ params }: Pick<Workflow, 'params'>, given: readonly Param[]): readonly Param[] {
  const [json, ...others] = given.filter(({ name }) => name === null);
  if (json === undefined || others.length > 0 || params.some(({ name }) => name === null)) return given;
  const isGiven = (wanted: string | null) => given.some(({ name }) => name === wanted);
  // A stored list has all declared names: another value of it stays a value.
  if (params.every(({ name }) => isGiven(name))) return given;
  const values = Object.entries(exactJsonObject(json.value) ?? {});
  if (!values.some(([key]) => params.some(({ name }) => name === key))) return given;
  const named = values.map(([name, value]) => ({ name, value: textOf(value) }));
  return given.flatMap((param) => (param === json ? named : [param]));
}

/**
 * The parameters that a step gives to another workflow. Only JSON that the file itself writes, and that of `json`, gives
 * names: a value of a variable never does. Throws a `WfError` `invalid-params` for an undeclared name in `json`.
 */
export function childParams(
  workflow: Workflow,
  { params, json, isDefault = false, expand }: ChildParams,
): readonly Param[] {
  if (json !== undefined) return jsonObjectParams(workflow, expand(json));
  // The JSON of the text is read before variables are replaced, whose values might end its strings.
  const named = namedParams(workflow, parseParamTemplates(params));
  const given = named.map(({ name, value }) => ({ name, value: expand(value) }));
  return isDefault ? given.filter(takenBy(workflow)) : given;
}

function jsonObjectParams(workflow: Workflow, text: string): readonly Param[] {
  const object = exactJsonObject(text);
  if (object === null) {
    const help = 'to set a parameter of the name "json", write: params: ["json=..."]';
    throw new WfError('invalid-params', 'the text of "params: {json: ...}" is not a JSON object', { help });
  }
  const declared = workflow.params.flatMap(({ name }) => name ?? []);
  const unknown = Object.keys(object).filter((name) => !declared.includes(name));
  if (unknown.length > 0) {
    const names = unknown.slice(0, 10).map((name) => `"${name.slice(0, 60)}"`);
    const takes = declared.length === 0 ? 'declares no parameters' : `declares ${declared.join(', ')}`;
    throw new WfError(
      'invalid-params',
      `${names.join(', ')} in the JSON of "params" is undeclared: workflow "${workflow.name}" ${takes}`,
    );
  }
  return Object.entries(object).map(([name, value]) => ({ name, value: textOf(value) }));
}

/** Whether a workflow takes an item: anything if it declares parameters, else what it mentions. */
function takenBy(workflow: Workflow): (param: Param) => boolean {
  if (workflow.runConfig?.disableParamEdit) return () => false;
  if (workflow.params.length > 0) return () => true;
  const { names, position } = workflowMentions(workflow);
  return ({ name }) => (name === null ? position > 0 : names.has(name));
}

function textOf(value: Json): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
