/** The name of an instance of a fan-out as a node of the run: `NAME[KEY]`. */
export function instanceName(step: string, key: string): string {
  return `${step}[${key}]`;
}

/** The fan-out and the key in the name of an instance; null for any other form of name. */
export function splitInstanceName(name: string): { readonly step: string; readonly key: string } | null {
  const { 1: step, 2: key } = /^(.+)\[([^[\]]+)\]$/s.exec(name) ?? [];
  return step === undefined || key === undefined ? null : { step, key };
}
