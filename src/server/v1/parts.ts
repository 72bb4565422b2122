import type { RunSummary } from '../../core/run/summary.ts';
import type { Workflow } from '../../core/workflow.ts';
import type { Catalog } from '../../daemon/catalog/catalog.ts';
import type { ListedNames } from '../../daemon/catalog/find-listed.ts';
import type { RunIndex } from '../../daemon/run-index.ts';
import type { History } from '../../service/history/history.ts';
import type { PastRun } from '../../service/history/past-run.ts';
import type { RunActions } from '../../service/service.ts';
import type { WorkflowEditor } from '../../service/workflows/workflow-editor.ts';
import type { Suspensions } from '../../store/store.ts';

/** The dependencies of the v1 API. */
export type V1Parts = {
  readonly catalog: Catalog;
  readonly names: ListedNames;
  readonly runIndex: RunIndex;
  readonly history: Pick<History, 'read' | 'summarize'>;
  readonly runs: RunActions;
  readonly suspensions: Suspensions;
  readonly editor: WorkflowEditor;
  /** Masks the secrets in a workflow. */
  readonly shown: (workflow: Workflow) => Workflow;
  /** Masks the secrets in the text of a workflow file. */
  readonly shownText: (text: string, workflow: Workflow) => string;
};

/** A run with the data of the v1 API. */
export type ShownRun = {
  readonly past: PastRun;
  readonly summary: RunSummary;
};
