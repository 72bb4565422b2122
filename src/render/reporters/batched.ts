const FULL_BATCH = 64 * 1024;

/** Collects lines and writes them when `defer` calls back, or earlier if there are many. The caller flushes at the end. */
export function createBatch(write: (text: string) => void, defer: (callback: () => void) => void) {
  let text = '';
  let deferred = false;
  const flush = () => {
    const gathered = text;
    text = '';
    if (gathered !== '') write(gathered);
  };
  const add = (line: string) => {
    text += `${line}\n`;
    if (text.length >= FULL_BATCH) return flush();
    if (deferred) return;
    deferred = true;
    defer(() => {
      deferred = false;
      flush();
    });
  };
  return { add, flush };
}
