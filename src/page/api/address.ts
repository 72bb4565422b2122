/** The path below which the daemon is served, as the document says it: `/wf`, or empty. */
export const basePath = new URL(document.baseURI).pathname.replace(/\/$/, '');

/** Addresses of screens, relative to the document. */
export const to = { workflows: './' } as const;
