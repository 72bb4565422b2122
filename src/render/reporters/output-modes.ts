/** The words of `--output`: what a finished step leaves on a terminal of what it has printed. */
export const outputModes = ['full', 'last', 'errors', 'none'] as const;
