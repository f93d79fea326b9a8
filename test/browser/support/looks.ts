import { expect } from 'vitest';
import type { Page } from 'playwright-core';
import { expectAccessible } from './accessibility.ts';
import { goTo } from './console-page.ts';
import { screenshot } from './screenshots.ts';

export interface Look {
  name: string;
  options: { colorScheme: 'light' | 'dark'; viewport: { width: number; height: number }; hasTouch?: boolean };
}

/** Both themes, on desktop and mobile. */
export const LOOKS: readonly Look[] = [
  { name: 'light', options: { colorScheme: 'light', viewport: { width: 1440, height: 900 } } },
  { name: 'dark', options: { colorScheme: 'dark', viewport: { width: 1440, height: 900 } } },
  { name: 'phone-light', options: { colorScheme: 'light', viewport: { width: 390, height: 844 }, hasTouch: true } },
  { name: 'phone-dark', options: { colorScheme: 'dark', viewport: { width: 390, height: 844 }, hasTouch: true } },
];

/** Opens a page, waits until it is loaded, and checks that it is accessible and fits the window. */
export async function visit(page: Page, name: string, path: string, heading: string | RegExp): Promise<void> {
  await goTo(page, path);
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
  await screenshot(page, name);
  await expectAccessible(page, `${name} ${path}`);
  const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  expect(overflow, `${path} is wider than the window`).toBe(0);
}
