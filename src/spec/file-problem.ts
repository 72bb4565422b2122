import { WfError } from '../errors.ts';
import type { Source } from './diagnostic.ts';
import { lineIndex } from './line-index.ts';
import type { Problem } from './problem.ts';

/** Where something stands in a file that is no workflow: its line, from 1, and `params.yaml:3:5` for messages. */
export function placeOf(source: Source, offset: number): { readonly line: number; readonly text: string } {
  const { line, column } = lineIndex(source)(offset, offset).start;
  return { line, text: `${source.path}:${line}:${column}` };
}

/** A problem of a file that is no workflow, as the error of the request that named the file. */
export function fileProblem({ spot, message, help }: Problem): WfError {
  const place = 'range' in spot ? placeOf(spot.source, spot.range[0]).text : spot.source.path;
  return new WfError('usage', `${place}: ${message}`, help === null ? {} : { help });
}
