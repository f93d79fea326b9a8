import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { renderOperations } from './render-operations.ts';

it('lists every declared operation in docs/s3-operations.md', async () => {
  const written = await readFile(new URL('../../../../docs/s3-operations.md', import.meta.url), 'utf8');
  expect(written, 'run: npm run docs --workspace @svc/object-store').toBe(renderOperations());
});
