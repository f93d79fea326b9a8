import { writeFile } from 'node:fs/promises';
import { renderOperations } from '../src/s3/render-operations.ts';

/** `npm run docs --workspace @svc/object-store` */
await writeFile(new URL('../../../docs/s3-operations.md', import.meta.url), renderOperations());
