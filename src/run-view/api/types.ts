import type { components } from './generated/schema.d.ts';

export type { paths } from './generated/schema.d.ts';

/** What the API answers, as read-only data. */
type Schemas = ReadOnly<components['schemas']>;
type ReadOnly<T> = T extends object ? { readonly [Key in keyof T]: ReadOnly<T[Key]> } : T;

export type Diagnostic = Schemas['Diagnostic'];
export type Problem = Schemas['Problem'];
export type RunHead = Schemas['RunHead'];
export type RunSummary = Schemas['RunSummary'];
export type StepView = Schemas['StepView'];
export type StepAttempt = Schemas['StepAttempt'];
export type RunView = Schemas['RunView'];
export type LogIndex = Schemas['LogIndex'];
export type LogSize = Schemas['LogSize'];
export type Workflow = Schemas['Workflow'];
export type WorkflowDetail = Schemas['WorkflowDetail'];
export type WorkflowGrid = Schemas['WorkflowGrid'];
export type DaemonConfig = Schemas['DaemonConfig'];
export type DaemonInfo = Schemas['DaemonInfo'];
export type DaemonSchedule = Schemas['DaemonSchedule'];
export type Activity = Schemas['Activity'];
export type Artifact = Schemas['Artifact'];
export type Backfill = Schemas['Backfill'];
export type RunQueue = Schemas['RunQueue'];
export type Lock = Schemas['Lock'];
export type QueueEvent = Schemas['QueueEvent'];
export type DaemonStatus = Schemas['DaemonStatus'];
export type Session = Schemas['Session'];
export type LoginRequest = Schemas['LoginRequest'];

export type StepApproval = NonNullable<StepView['approval']>;
export type RunFailure = RunView['failures'][number];
export type RunGraph = NonNullable<RunView['graph']>;
export type GraphNode = RunGraph['nodes'][number];
