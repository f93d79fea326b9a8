import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { renderEscapesPage } from './render-page.ts';

it('lists every case of the escape table in the documentation', () => {
  const page = readFileSync(new URL('../../docs/sandbox-escapes.md', import.meta.url), 'utf8');
  expect(page, 'run: node test/escapes/render-page.ts > docs/sandbox-escapes.md').toBe(renderEscapesPage());
});
