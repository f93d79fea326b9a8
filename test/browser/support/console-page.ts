import { expect } from 'vitest';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { RunningPlatform } from './platform.ts';

export interface ConsolePage extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Fails when the page broke its content policy, threw, or logged an error. */
  expectNoFault(): Promise<void>;
}

export interface ConsolePageOptions extends BrowserContextOptions {
  /** Answers that the page is expected to get and the browser logs as errors, such as 401. */
  expectedStatuses?: readonly number[];
}

/** Text, since the page's own names are not those of this program. */
const RECORD_VIOLATIONS = `
  globalThis.policyViolations = [];
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) => {
    globalThis.policyViolations.push(violatedDirective + ' blocked ' + blockedURI + ' ' + sample);
  });
`;

/** A fresh browser profile with one page. */
export async function openConsole(
  browser: Browser,
  platform: RunningPlatform,
  options: ConsolePageOptions = {},
): Promise<ConsolePage> {
  const { expectedStatuses = [], ...contextOptions } = options;
  const context = await browser.newContext({ baseURL: platform.url, ...contextOptions });
  // Chromium gives up what it is loading when an interface of the machine comes or goes, as sandboxes' do, and a page
  // without a style sheet asks for none again. Loaded from here, the console's own files do not know of that.
  await context.route(
    (url) => url.origin === platform.url && url.pathname.startsWith('/assets/'),
    async (route) => {
      try {
        await route.fulfill({ response: await route.fetch() });
      } catch {
        await route.abort().catch(() => undefined); // the page or the platform is gone
      }
    },
  );
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`thrown: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    // Interfaces of the machine come and go with sandboxes; the page asks again.
    if (message.text().includes('ERR_NETWORK_CHANGED')) return;
    const status = /status of (\d{3})/.exec(message.text())?.[1];
    if (status !== undefined && [401, ...expectedStatuses].includes(Number(status))) return;
    faults.push(`${message.type()}: ${message.text()}`);
  });
  await page.addInitScript({ content: RECORD_VIOLATIONS });
  return {
    page,
    context,
    expectNoFault: async () => {
      const violations: unknown = await page.evaluate('globalThis.policyViolations');
      expect({ faults, violations }).toEqual({ faults: [], violations: [] });
    },
    [Symbol.asyncDispose]: () => context.close(),
  };
}

/** Signs in through the form and waits for the shell. */
export async function signIn(page: Page, { owner }: RunningPlatform, path = '/'): Promise<void> {
  await page.goto(path);
  await page.getByLabel('Email').fill(owner.email);
  await page.getByLabel('Password', { exact: true }).fill(owner.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('#content h1').waitFor();
}
