/** The files of one workflow hold more bytes together than the caller allows. */
export class TooManyBytes extends Error {}

/** Counts a content, or work that takes as long as the length; throws `TooManyBytes` beyond the limit. */
export type ByteLimit = (content: Pick<string | Uint8Array, 'length'>) => void;

/** Counts the contents that belong to one workflow. The result throws `TooManyBytes` once they exceed `most` together. */
export function createByteLimit(most: number | undefined): ByteLimit {
  let taken = 0;
  return ({ length }) => {
    taken += length;
    if (most !== undefined && taken > most) throw new TooManyBytes(`more than ${most} bytes`);
  };
}
