import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { expect } from 'vitest';
import type { Page } from 'playwright-core';

interface AxeViolation {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary?: string }[];
}

/** Asserts that axe-core finds no serious or critical violation (WCAG 2.2 A and AA). */
export async function expectAccessible(page: Page, where: string): Promise<void> {
  const source = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  // Evaluated by the debugger, since the page's content security policy would block it and must not change.
  await page.evaluate(`${source}; undefined`);
  await settle(page);
  const violations = (await page.evaluate(
    "axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'], rules: { 'label-content-name-mismatch': { enabled: true } } }).then((result) => result.violations)",
  )) as AxeViolation[]; // axe-core's documented result
  const grave = violations.filter(
    ({ id, impact }) => impact === 'serious' || impact === 'critical' || id === 'aria-allowed-role',
  );
  const told = grave.map(
    ({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html} (${node.failureSummary ?? ''})`).join(' | ')}`,
  );
  expect(told, `axe on ${where}`).toEqual([]);
}

/** Waits for transitions to end, since intermediate colors don't count. */
export async function settle(page: Page): Promise<void> {
  await page.evaluate(
    'document.fonts.ready.then(() => Promise.all(document.getAnimations().filter((each) => each.effect?.getComputedTiming().iterations !== Infinity).map((each) => each.finished.catch(() => undefined))))',
  );
}
