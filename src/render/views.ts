/** The views that commands print, each loaded when it is printed. */
export const views = {
  artifacts: () => import('./views/artifact-table.ts'),
  diagnostics: () => import('./views/diagnostics.ts'),
  graph: () => import('./graph/render-graph.ts'),
  history: () => import('./views/history-table.ts'),
  locks: () => import('./views/lock-table.ts'),
  plan: () => import('./views/plan-view.ts'),
  removedRuns: () => import('./views/removed-runs.ts'),
  status: () => import('./views/status.ts'),
  workflows: () => import('./views/workflow-list.ts'),
};

export type { RemovedRunView } from './views/removed-runs.ts';
