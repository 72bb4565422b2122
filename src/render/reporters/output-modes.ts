/** The values of `--output`: the amount of output that a finished step leaves on a terminal. */
export const outputModes = ['full', 'last', 'errors', 'none'] as const;
