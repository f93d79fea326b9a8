import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { renderAuthorization } from './render-authorization.ts';
import { authorizeTable } from './table.ts';

it('docs/authorization.md matches the authorize table', async () => {
  const written = await readFile(new URL('../../../../../docs/authorization.md', import.meta.url), 'utf8');
  expect(written, 'run: npm run docs --workspace @svc/accounts').toBe(renderAuthorization(authorizeTable));
});
