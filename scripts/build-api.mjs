// Generates src/server/generated/openapi.json, the OpenAPI document, from src/server/openapi/.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiDocument } from './api-document.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, 'src/server/generated');

mkdirSync(target, { recursive: true });
writeFileSync(join(target, 'openapi.json'), JSON.stringify(apiDocument(root)));
