import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import type { RequirementName } from '@svc/testing';

/** What the local driver needs of a machine, and the browser. */
export const SANDBOX_REQUIREMENTS: readonly RequirementName[] = [
  'chromium',
  'linux',
  'root',
  'cgroups',
  'command:mkfs.ext4',
  'command:nft',
  'command:busybox',
  'command:mmdebstrap',
];

/** Images are those of the other suites: made once, kept between runs, and none comes from a registry. */
export const SANDBOX_CONFIG = {
  sandboxes: {
    image_cache: fileURLToPath(new URL('../../../.cache/sandbox-images', import.meta.url)),
    image_registry: '',
    // The browser on this machine starts anew whenever an interface comes, and those of a network are many.
    network: 'none',
  },
};

/** The terminal's text as it is drawn, without the spaces at its lines' ends. */
export async function terminalText(page: Page): Promise<string> {
  return (await page.locator('.xterm-rows > div').allInnerTexts()).map((line) => line.trimEnd()).join('\n');
}

/** Waits until the shell takes what is typed, and gives it the focus. */
export async function focusTerminal(page: Page): Promise<void> {
  await page.locator('[aria-label="Terminal"][data-state="connected"]').waitFor();
  await page.locator('.xterm').click();
}
