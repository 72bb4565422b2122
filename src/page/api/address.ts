/** The base path of the daemon as given in the document: `/wf`, or empty. */
export const basePath = new URL(document.baseURI).pathname.replace(/\/$/, '');

/** Addresses of screens, relative to the document, with every name encoded. */
export const to = {
  workflows: './',
  runs: 'runs',
  runsAwaitingApproval: 'runs?status=waiting',
  system: 'system',
  login: 'login',
  run: (id: string) => `runs/${encodeURIComponent(id)}`,
  runOfStep: (id: string, step: string, item?: string) =>
    `runs/${encodeURIComponent(id)}?${new URLSearchParams(item === undefined ? { step } : { step, item })}`,
  artifact: (id: string, step: string, path: string) =>
    `api/v2/runs/${encodeURIComponent(id)}/artifacts/${encodeURIComponent(step)}/${encodeURIComponent(path)}`,
  archive: (id: string) => `api/v2/runs/${encodeURIComponent(id)}/artifacts?archive=tar.gz`,
  runsOf: (workflow: string) => `runs?${new URLSearchParams({ workflow })}`,
  workflow: (id: string) => `w/${encodeURIComponent(id)}`,
  edit: (id: string) => `w/${encodeURIComponent(id)}?tab=spec&edit=1`,
  start: (id: string) => `w/${encodeURIComponent(id)}/start`,
} as const;

/** Returns the full path of a relative address, as the router expects it. */
export function pathOf(address: string): string {
  const { pathname, search } = new URL(address, document.baseURI);
  return pathname + search;
}
