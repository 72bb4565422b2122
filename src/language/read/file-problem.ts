import { WfError } from '#system/errors.ts';
import type { Source } from '../diagnostic.ts';
import type { Problem } from '../problem.ts';
import { lineIndex } from './line-index.ts';

/** Positions in a file that is not a workflow: the line from 1, and `params.yaml:3:5` for messages. */
export function placesOf(source: Source): (offset: number) => { readonly line: number; readonly text: string } {
  const index = lineIndex(source);
  return (offset) => {
    const { line, column } = index(offset, offset).start;
    return { line, text: `${source.path}:${line}:${column}` };
  };
}

/** Converts a problem of a file that is not a workflow to the error of the request that named the file. */
export function fileProblem({ spot, message, help }: Problem): WfError {
  const place = 'range' in spot ? placesOf(spot.source)(spot.range[0]).text : spot.source.path;
  return new WfError('usage', `${place}: ${message}`, help === null ? {} : { help });
}
