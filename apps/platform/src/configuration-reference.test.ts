import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { renderConfigurationReference } from './configuration-reference.ts';

it('docs/configuration.md says what the schema says (svc config reference writes it)', async () => {
  const page = await readFile(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');
  expect(page).toBe(renderConfigurationReference());
});
