import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { settle } from './accessibility.ts';

/** Saves a screenshot if `SVC_SCREENSHOTS` names a folder. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env['SVC_SCREENSHOTS'] ?? '';
  if (folder === '') return;
  await mkdir(folder, { recursive: true });
  await settle(page);
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
