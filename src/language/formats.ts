/** Texts with a form of their own: parameters and their JSON Schema, dotenv files, cron expressions. */

export { type Cron, type CronField, parseCron } from './cron.ts';
export { type DotenvEntry, DotenvProblem, parseDotenv } from './dotenv.ts';
export { compileSchema } from './json-schema.ts';
export { formatParams, parseParams, parseParamsFile, parseParamTemplates } from './params.ts';
export { VARIABLE_NAME } from './raw.ts';
