import { jsonIn } from '../data/exact-json.ts';
import { isSettled, type StepState } from '../run/run-state.ts';
import type { Step } from '../workflow.ts';
import { partOf } from './json-path.ts';

/** The names by which texts refer to the result of a step, as in `${NAME.exitCode}`: its id, and its name if that is one word. */
export function resultNames({ id, name }: Pick<Step, 'id' | 'name'>): readonly string[] {
  return [...new Set([id ?? name, name])].filter((word) => /^[A-Za-z_]\w*$/.test(word));
}

/** The paths of the logs of a step's last attempt. */
export type ResultLogs = { readonly stdout: string | null; readonly stderr: string | null };

/**
 * The result of a step as JSON, for the texts of later steps; undefined until it is settled. `output` is a text, or the
 * JSON list or map that the text holds; of published values, a map. `outputs` are published values, or those of the run of
 * a sub-workflow. `artifacts`: the directory of the kept files of the step; null: it keeps none.
 */
export function stepResult(
  { output, published, executor }: Pick<Step, 'output' | 'published' | 'executor'>,
  state: StepState,
  { stdout, stderr }: ResultLogs,
  artifacts: string | null = null,
): string | undefined {
  if (!isSettled(state)) return undefined;
  const { exitCode, status, outputs } = state;
  const kept = artifacts === null ? {} : { artifacts };
  const parts = { stdout, stderr, exitCode, exit_code: exitCode, status, ...kept };
  const json = JSON.stringify(parts);
  const isChild = executor.type === 'workflow';
  const value = published === undefined ? outputs[output ?? ''] : undefined;
  if (value !== undefined) {
    const found = isChild ? partOf('', '.outputs', value) : {};
    const ofChild = 'value' in found ? `,"outputs":${found.value}` : '';
    return `${json.slice(0, -1)},"output":${jsonOf(value)}${ofChild}}`;
  }
  if (published === undefined) return json;
  const values = Object.entries(outputs).map(([key, text]) => `${JSON.stringify(key)}:${jsonOf(text)}`);
  const map = `{${values.join(',')}}`;
  return `${json.slice(0, -1)},"output":${map},"outputs":${map}}`;
}

/** Keeps numbers as they are written. */
function jsonOf(text: string): string {
  return /^\s*[[{]/.test(text) && jsonIn(text) !== undefined ? text : JSON.stringify(text);
}
