/** The size in characters that GitHub's page shows without trouble. */
const HEAD_SIZE = 256 * 1024;
const TAIL_SIZE = 768 * 1024;
const BLOCK_SIZE = 16 * 1024;

/** The buffered lines of one step, in bounded memory. */
export type HeldLines = ReturnType<typeof createHeldLines>;

/** Creates `HeldLines`. */
export function createHeldLines() {
  const tail = createTail();
  let head = '';
  let isHeadFull = false;
  return {
    add: (line: string) => {
      isHeadFull ||= head.length + line.length >= HEAD_SIZE;
      if (isHeadFull) tail.add(line);
      else head += `${line}\n`;
    },
    /** Returns all lines with their line breaks; of very many the first and the last, with a line that counts the missing ones. */
    text: () => {
      const { text, dropped } = tail.end();
      return dropped === 0
        ? head + text
        : `${head}[${dropped} lines are left out here: the step's log has them]\n${text}`;
    },
  };
}

/** Keeps blocks of lines and drops the oldest one if there are too many. */
function createTail() {
  let blocks: string[] = [];
  let block = '';
  let size = 0;
  let dropped = 0;
  return {
    add: (line: string) => {
      block += `${line}\n`;
      if (block.length < BLOCK_SIZE) return;
      blocks.push(block);
      size += block.length;
      block = '';
      const oldest = size > TAIL_SIZE ? (blocks.shift() ?? '') : '';
      size -= oldest.length;
      if (oldest !== '') dropped += oldest.split('\n').length - 1;
    },
    end: () => {
      const text = blocks.join('') + block;
      blocks = [];
      return { text, dropped };
    },
  };
}
