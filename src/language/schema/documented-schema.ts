import type { Schema } from './schema.ts';
import document from './workflow.schema.json' with { type: 'json' };

/**
 * The schema of workflow files, as published. Most of it is documentation, which no run needs: in the built program it
 * stays in its own file until somebody asks for it.
 */
export const documentedSchema = document as unknown as Schema;
