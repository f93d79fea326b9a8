import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import type { RequirementName } from '@svc/testing';

/** Requirements of the local driver and the browser. */
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

/** Uses the images of the other suites: built once, cached between runs, none from a registry. */
export const SANDBOX_CONFIG = {
  sandboxes: {
    image_cache: fileURLToPath(new URL('../../../.cache/sandbox-images', import.meta.url)),
    image_registry: '',
    // The local browser restarts loads for every new interface, and a network has many.
    network: 'none',
  },
};

/** Returns the terminal's rendered text, without trailing spaces. */
export async function terminalText(page: Page): Promise<string> {
  return (await page.locator('.xterm-rows > div').allInnerTexts()).map((line) => line.trimEnd()).join('\n');
}

/** Waits until the shell accepts input, and focuses it. */
export async function focusTerminal(page: Page): Promise<void> {
  await page.locator('[aria-label="Terminal"][data-state="connected"]').waitFor();
  await page.locator('.xterm').click();
}
