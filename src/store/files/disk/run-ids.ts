import { durableText } from './durable-text.ts';

/** The run ids in the file at an absolute path; none if it is absent or invalid. */
export function runIdsIn(path: string) {
  const text = durableText(path);
  return {
    read: (): readonly string[] => {
      try {
        const runIds: unknown = JSON.parse(text.read() ?? '[]');
        return Array.isArray(runIds) ? runIds.map(String) : [];
      } catch {
        return [];
      }
    },
    write: (runIds: readonly string[]) => text.write(written(runIds)),
    writeInBackground: (runIds: readonly string[]) => text.writeInBackground(written(runIds)),
  };
}

function written(runIds: readonly string[]): string {
  return `${JSON.stringify(runIds)}\n`;
}
