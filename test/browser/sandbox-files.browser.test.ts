import type { SandboxHandle } from '@svc/sdk';
import { describeRequiring } from '@svc/testing';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { launchBrowser } from './support/browser.ts';
import { testFileBrowser } from './support/file-browser-suite.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { SANDBOX_CONFIG, SANDBOX_REQUIREMENTS } from './support/sandboxes.ts';

describeRequiring(SANDBOX_REQUIREMENTS, 'files of a sandbox in the console', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  let sandbox: SandboxHandle;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform({ config: SANDBOX_CONFIG })]);
    sandbox = await platform.svc.sandboxes.create({ image: 'busybox', name: 'file-box' });
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  testFileBrowser('sandbox', () => ({
    browser,
    platform,
    files: sandbox.files,
    pagePath: `/w/${platform.workspaceUuid}/sandboxes/${sandbox.id}/files`,
  }));
});
