import type { components } from './schema.d.ts';

type Schemas = components['schemas'];

export type Diagnostic = Schemas['Diagnostic'];
export type Problem = Schemas['Problem'];
export type RunHead = Schemas['RunHead'];
export type Workflow = Schemas['Workflow'];
