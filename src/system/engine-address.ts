/** Where a Temporal server is; null: as the variables and the profile of all Temporal programs say. */
export type EngineAddress = { readonly address: string | null; readonly namespace: string | null };

/** The engine of this program, which needs no server. */
export const LOCAL_ENGINE = 'local';

/** Reads `temporal://HOST:PORT[/NAMESPACE]` or `temporal:`; null for any other text. */
export function engineAddress(text: string): EngineAddress | null {
  if (text === 'temporal:') return { address: null, namespace: null };
  const [, address, namespace] =
    /^temporal:\/\/([^\s/:]+:\d{1,5}|\[[0-9a-fA-F:]+\]:\d{1,5})(?:\/([^\s/]+))?$/.exec(text) ?? [];
  return address === undefined ? null : { address, namespace: namespace ?? null };
}
