/** The formats of `wf graph`. */
export const graphFormats = ['ascii', 'mermaid', 'dot', 'json'] as const;

/** One of `graphFormats`. */
export type GraphFormat = (typeof graphFormats)[number];
