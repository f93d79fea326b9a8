import { readFile, writeFile } from 'node:fs/promises';
import { renderTypes, type OpenApiDocument } from './render-types.ts';

const text = await readFile(new URL('../../../api/openapi.json', import.meta.url), 'utf8');
const document = JSON.parse(text) as OpenApiDocument; // generated from the routes
await writeFile(new URL('../src/generated/api.ts', import.meta.url), renderTypes(document));
