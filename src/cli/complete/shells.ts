/** The shells for which there is a completion script in `assets/completion/`. */
export const shells = ['bash', 'zsh', 'fish'] as const;

/** The name of a shell. */
export type Shell = (typeof shells)[number];
