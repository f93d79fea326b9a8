import { afterAll, beforeAll, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { describeRequiring } from '@svc/testing';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { LOOKS, visit } from './support/looks.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { seedPlatform, type Seed } from './support/seed.ts';

describeRequiring(['chromium'], 'every page of the console', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  let seed: Seed;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform()]);
    seed = await seedPlatform(platform);
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  for (const look of LOOKS) {
    it(`is accessible, within its policy and within the window: before sign-in, ${look.name}`, async () => {
      await using opened = await openConsole(browser, platform, look.options);
      const { page } = opened;
      await visit(page, `${look.name}-sign-in`, '/sign-in', 'Sign in to svc');
      await visit(page, `${look.name}-invitation`, '/invite#svc_inv_example', 'Accept your invitation');
      await opened.expectNoFault();
    });

    it(`is accessible, within its policy and within the window: signed in, ${look.name}`, async () => {
      await using opened = await openConsole(browser, platform, { ...look.options, expectedStatuses: [404] });
      const { page } = opened;
      await signIn(page, platform);
      const home = `/w/${platform.workspaceUuid}`;
      const team = `/teams/${seed.teamUuid}`;
      await visit(page, `${look.name}-overview`, home, 'Overview');
      await visit(page, `${look.name}-audit`, `${home}/audit?of=account`, 'Audit log');
      await visit(page, `${look.name}-secrets`, `${home}/secrets`, 'Secrets');
      await visit(page, `${look.name}-webhooks`, `${home}/sandboxes/webhooks`, 'Webhooks');
      await visit(page, `${look.name}-workspace-settings`, `${home}/settings`, 'Settings');
      await visit(page, `${look.name}-tokens`, '/account/tokens', 'API tokens');
      await visit(page, `${look.name}-ssh-keys`, '/account/ssh-keys', 'SSH keys');
      await visit(page, `${look.name}-account`, '/account', 'Account');
      await visit(page, `${look.name}-teams`, '/teams', 'Teams');
      await visit(page, `${look.name}-members`, team, 'Observatory');
      await visit(page, `${look.name}-invitations`, `${team}/invitations`, 'Observatory');
      await visit(page, `${look.name}-team-settings`, `${team}/settings`, 'Observatory');
      await visit(page, `${look.name}-not-found`, '/nowhere/at/all', 'Page not found');
      await opened.expectNoFault();
    });
  }
});
