/** Lines on their way to a terminal, handed on together. */
export type Batch = {
  readonly add: (line: string) => void;
  /** Hands on what was gathered, at once. */
  readonly flush: () => void;
};

const fullBatch = 64 * 1024;

/**
 * Gathers lines and writes them once `defer` calls back, or as soon as they are many: one write for a thousand short
 * steps instead of two thousand. Whoever ends flushes.
 */
export function createBatch(write: (text: string) => void, defer: (callback: () => void) => void): Batch {
  let text = '';
  let deferred = false;
  const flush = () => {
    const gathered = text;
    text = '';
    if (gathered !== '') write(gathered);
  };
  const add = (line: string) => {
    text += `${line}\n`;
    if (text.length >= fullBatch) return flush();
    if (deferred) return;
    deferred = true;
    defer(() => {
      deferred = false;
      flush();
    });
  };
  return { add, flush };
}
