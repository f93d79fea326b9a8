import { createHash } from 'node:crypto';
import type { SandboxHandle } from '@svc/sdk';
import { describeRequiring } from '@svc/testing';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectAccessible } from './support/accessibility.ts';
import { launchBrowser } from './support/browser.ts';
import { openConsole, signIn } from './support/console-page.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';
import { focusTerminal, SANDBOX_CONFIG, SANDBOX_REQUIREMENTS, terminalText } from './support/sandboxes.ts';
import { screenshot } from './support/screenshots.ts';

describeRequiring(SANDBOX_REQUIREMENTS, 'the terminal of a sandbox in the console', () => {
  let browser: Browser;
  let platform: RunningPlatform;
  let sandbox: SandboxHandle;
  let path: string;

  beforeAll(async () => {
    [browser, platform] = await Promise.all([launchBrowser(), startPlatform({ config: SANDBOX_CONFIG })]);
    sandbox = await platform.svc.sandboxes.create({ image: 'busybox', name: 'shell-box' });
    path = `/w/${platform.workspaceUuid}/sandboxes/${sandbox.id}`;
  });
  afterAll(async () => {
    await browser.close();
    await platform[Symbol.asyncDispose]();
  });

  const shows = (page: Page, pattern: RegExp) => expect.poll(() => terminalText(page)).toMatch(pattern);

  it('types and shows output, in the size and colors of the page, under the content policy', async () => {
    await using opened = await openConsole(browser, platform, { colorScheme: 'dark' });
    const { page } = opened;
    await signIn(page, platform, path);
    await focusTerminal(page);
    await page.keyboard.type('echo sum $((40 + 2)); stty size\n');
    await shows(page, /sum 42\n\d+ \d{2,}/);
    await page.keyboard.type(String.raw`printf '\033[38;2;255;120;0mtrue colour\033[0m \033[31mred\033[0m\n'`);
    await page.keyboard.press('Enter');
    await shows(page, /^true colour red$/m);
    const coloured = page.locator('.xterm-rows span', { hasText: /^true colour$/ }).last();
    expect(await coloured.getAttribute('style')).toMatch(/color: rgb\(255, 120, 0\)/);
    await screenshot(page, 'dark-sandbox-terminal');
    await expectAccessible(page, 'the terminal');
    // Clears the line in the shell without opening anything in the console.
    await page.keyboard.type('echo never');
    await page.keyboard.press('Control+u');
    await page.keyboard.press('Control+k');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await opened.expectNoFault();
  });

  it('shows its last column completely', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, path);
    await focusTerminal(page);
    await page.keyboard.type('clear; printf "%*s" "$(stty size | cut -d" " -f2)" "" | tr " " W; echo\n');
    await shows(page, /^W{20,}$/m);
    // The rendered text of the row, and its visible area.
    const overlap = await page.evaluate(`(() => {
      const row = [...document.querySelectorAll('.xterm-rows > div')].find((each) => /^W{20,}$/.test(each.textContent.trim()));
      const text = document.createRange();
      text.selectNodeContents(row);
      const place = document.querySelector('.xterm').parentElement;
      return text.getBoundingClientRect().right - place.getBoundingClientRect().right;
    })()`);
    expect(overlap).toBeLessThanOrEqual(0);
    await opened.expectNoFault();
  });

  it('continues in the same shell after a dropped connection, with missed output and no duplicates', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    const sockets: (() => Promise<void>)[] = [];
    await page.routeWebSocket(/\/ws\/terminal\//, (client) => {
      client.connectToServer();
      sockets.push(() => client.close({ code: 1012, reason: 'cut by the test' }));
    });
    await signIn(page, platform, path);
    await focusTerminal(page);
    await page.keyboard.type('clear; COUNT=7; (sleep 1; echo "came later $COUNT") &\n');
    await shows(page, /#/);
    await sockets.at(-1)?.();
    await page.locator('[aria-label="Terminal"][data-state="connected"]').waitFor();
    await shows(page, /came later 7$/m);
    await page.keyboard.type('echo still $COUNT\n');
    await shows(page, /^still 7$/m);
    expect((await terminalText(page)).match(/came later 7$/gm)).toHaveLength(1);
    expect(sockets.length).toBeGreaterThan(1);
    await opened.expectNoFault();
  });

  it('finds the shell again after a reload, opens another one, and closes one', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, path);
    await focusTerminal(page);
    await page.keyboard.type('echo before the reload\n');
    await shows(page, /^before the reload$/m);
    await page.reload();
    await focusTerminal(page);
    await shows(page, /^before the reload$/m);
    const sessions = page.getByRole('group', { name: 'Terminals' }).getByRole('button');
    const before = await sessions.count();
    await page.getByRole('button', { name: 'New terminal' }).click();
    await expect.poll(() => sessions.count()).toBe(before + 1);
    await screenshot(page, 'light-sandbox-terminal');
    await focusTerminal(page);
    await page.getByRole('button', { name: 'Actions for this terminal' }).click();
    await page.getByRole('menuitem', { name: 'End session' }).click();
    await page.getByText('The shell was terminated by SIGHUP.').waitFor();
    await expect.poll(() => sessions.count()).toBe(before);
    await opened.expectNoFault();
  });

  it('shows the exit code of a shell, and opens a new one', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, path);
    await focusTerminal(page);
    await page.keyboard.type('exit 3\n');
    await page.getByText('The shell ended with exit code 3.').waitFor();
    await screenshot(page, 'light-sandbox-terminal-ended');
    await page.getByRole('button', { name: 'New terminal' }).last().click();
    await focusTerminal(page);
    await page.keyboard.type('echo a fresh one\n');
    await shows(page, /^a fresh one$/m);
    await opened.expectNoFault();
  });

  it('accepts a large paste completely, and searches its output', async () => {
    await using opened = await openConsole(browser, platform);
    const { page } = opened;
    await signIn(page, platform, path);
    await focusTerminal(page);
    await page.keyboard.type('stty -echo -icanon; head -c 3000000 | sha256sum; stty sane\n');
    await page.evaluate(
      "(() => { const data = new DataTransfer(); data.setData('text/plain', 'x'.repeat(3000000)); document.querySelector('.xterm-helper-textarea').dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true })); })()",
    );
    const sum = createHash('sha256').update('x'.repeat(3_000_000)).digest('hex');
    await shows(page, new RegExp(sum));
    await page.keyboard.press('Control+Shift+F');
    await page.getByLabel('Find in terminal').fill('sha256sum');
    await screenshot(page, 'light-sandbox-terminal-find');
    await page.keyboard.press('Escape');
    await opened.expectNoFault();
  });

  it('reports that the sandbox was stopped, and continues after a start', async () => {
    // The page may request the sessions just as the sandbox stops.
    await using opened = await openConsole(browser, platform, { expectedStatuses: [409] });
    const { page } = opened;
    await signIn(page, platform, path);
    await focusTerminal(page);
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByText('The sandbox is stopped').waitFor();
    await screenshot(page, 'light-sandbox-stopped');
    await page.locator('#content').getByRole('button', { name: 'Start' }).last().click();
    await focusTerminal(page);
    await page.keyboard.type('echo up again\n');
    await shows(page, /^up again$/m);
    await opened.expectNoFault();
  });
});
