/** What other folders use of workflow files: find, read, list, check, plan and edit them. */
export { answerTasks, getWorkflowOnDemand } from './on-demand.ts';
export { type CheckedFile, checkFile, filesToCheck } from './workflows/check-files.ts';
export { type FindLines, lineFinder, type SearchLines, textFinder } from './workflows/line-matcher.ts';
export { checkText, type LoadWorkflow } from './workflows/load-workflow.ts';
export { planRun } from './workflows/run-plan.ts';
export { shownText, shownWorkflow } from './workflows/shown-workflow.ts';
export {
  defaultWorkflow,
  findWorkflowFiles,
  groupOf,
  InvalidWorkflow,
  pathKind,
  workflowHere,
  workflowsIn,
} from './workflows/workflow-directory.ts';
export { createWorkflowEditor } from './workflows/workflow-editor.ts';
export {
  createTaskThread,
  createWorkflowLoader,
  type ReadWorkflow,
  type TaskThread,
} from './workflows/workflow-loader.ts';
export {
  findWorkflow,
  getWorkflow,
  type ListedWorkflow,
  type ListingPaths,
  type LoadedWorkflow,
  loadListed,
  readWorkflow,
  unreadable,
  type WorkflowDirectories,
  type WorkflowReference,
  workflowBytes,
} from './workflows/workflows.ts';
