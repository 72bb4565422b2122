import { exactJsonObject } from '#core/data/exact-json.ts';
import { jsonParams } from '../../build/build-step.ts';
import { didYouMean, nearNames } from '../../near-names.ts';
import type { Problem } from '../../problem.ts';
import { problem } from '../../problem.ts';
import type { SpecFile } from '../../read/spec-file.ts';
import { spotIn } from '../../read/spec-file.ts';
import { jsonMistake } from '../constants/constants.ts';
import { paramTextProblems } from '../param-text.ts';
import { type ActionEntry, actionEntries } from './action-entries.ts';

/** The workflows that a `run` of these files can name. */
export type RunTargets = {
  readonly exists: (name: string) => boolean;
  /** Names to suggest in place of an unknown one. */
  readonly names: () => readonly string[];
};

/**
 * Reports a `run` of a workflow that does not exist. A command and the name of a function are errors; any other name is a
 * warning, since an earlier step may write the file.
 */
export function runProblems(files: readonly SpecFile[], targets: RunTargets): Problem[] {
  const functions = new Set(files.flatMap(({ raw }) => raw.functions ?? []).map(({ name }) => name));
  return files.flatMap(actionEntries).flatMap(({ file, path, raw, what }) => {
    const { run } = raw;
    if (run === undefined || run.trim() === '' || targets.exists(run)) return [];
    const spot = spotIn(file, [...path, 'run']);
    if (isCommand(run)) {
      const message = `${what}: "run" names a workflow, and this is a command`;
      const key = /\n/.test(run.trim()) ? 'script' : 'command';
      return [problem('wrong-value', spot, message, { help: `To run it, write it under "${key}".` })];
    }
    if (/[$`]/.test(run)) return [];
    if (functions.has(run)) {
      const help = `To call the function "${run}", write call: {function: ${JSON.stringify(run)}}`;
      return [problem('missing-workflow', spot, `${what}: there is no workflow "${run}" to run`, { help })];
    }
    const label = () => didYouMean(nearNames(run, targets.names()));
    const help = 'Workflows are searched for beside this file, then in the workflows directory.';
    const message = `${what}: there is no workflow "${run}" yet`;
    return [problem('missing-workflow', spot, message, { severity: 'warning', label, help })];
  });
}

/** Whether a text has several lines, operators of a shell or several words, the first of which names no folder by a variable. */
function isCommand(run: string): boolean {
  const text = run.trim();
  return /[\n|&;<>]|\$\(/.test(text) || (/^[^\s$`]+\s/.test(text) && !/\.ya?ml$/.test(text));
}

/** Warns about text in `params` that the other workflow reads differently than it looks. */
export function runParamsProblems({ file, path: step, raw: { params }, what }: ActionEntry): Problem[] {
  if (typeof params !== 'string')
    return jsonParamsProblems(spotIn(file, [...step, 'params', 'json']), jsonParams(params));
  const [path, subject] = [[...step, 'params'], `${what}: "params"`];
  if (!/^\s*\{\s*["}]/.test(params))
    return paramTextProblems({ source: file.source, path, text: params, subject }, false);
  const mistake = jsonMistake(params);
  if (mistake === null) return [];
  const help = 'Put variables into the quotes of a value. A map needs no JSON: params: {NAME: $VALUE}.';
  const message = `${subject} is not JSON (${mistake}), so that its words are the parameters`;
  return [problem('wrong-value', spotIn(file, path), message, { severity: 'warning', help })];
}

/** Reports a text of `params: {json: TEXT}` that can never be a JSON object. */
function jsonParamsProblems(spot: Parameters<typeof problem>[1], text: string | null): Problem[] {
  if (text === null || /[$`]/.test(text) || exactJsonObject(text) !== null) return [];
  const help = 'The keys of the JSON are the parameters. For a parameter of this name, write: params: ["json=..."]';
  return [problem('wrong-value', spot, 'the text of "params: {json: ...}" is not a JSON object', { help })];
}
