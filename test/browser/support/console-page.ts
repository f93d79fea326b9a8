import { expect } from 'vitest';
import type { Browser, BrowserContext, BrowserContextOptions, Page, Route } from 'playwright-core';
import type { RunningPlatform } from './platform.ts';

export interface ConsolePage extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Fails if the page violated its content security policy, threw, or logged an error. */
  expectNoFault(): Promise<void>;
}

export interface ConsolePageOptions extends BrowserContextOptions {
  /** Expected error responses, such as 401, which the browser logs as errors. */
  expectedStatuses?: readonly number[];
}

/** A string, since it runs in the page. */
const RECORD_VIOLATIONS = `
  globalThis.policyViolations = [];
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) => {
    globalThis.policyViolations.push(violatedDirective + ' blocked ' + blockedURI + ' ' + sample);
  });
`;

interface Asset {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** Files of consoles by URL; their names change with their content. */
const assets = new Map<string, Asset>();

async function assetFor(route: Route): Promise<Asset> {
  const url = route.request().url();
  const known = assets.get(url);
  if (known !== undefined) return known;
  const response = await route.fetch();
  const asset = { status: response.status(), headers: response.headers(), body: await response.body() };
  if (response.ok()) assets.set(url, asset);
  return asset;
}

/** Opens one page in a fresh browser profile. */
export async function openConsole(
  browser: Browser,
  platform: RunningPlatform,
  options: ConsolePageOptions = {},
): Promise<ConsolePage> {
  const { expectedStatuses = [], ...contextOptions } = options;
  const context = await browser.newContext({ baseURL: platform.url, ...contextOptions });
  // Chromium aborts loads when a network interface appears or disappears, as with sandboxes, and a page never retries a
  // style sheet. Serving the console's own files from here avoids that.
  await context.route(
    (url) => url.origin === platform.url && url.pathname.startsWith('/assets/'),
    async (route) => {
      try {
        await route.fulfill(await assetFor(route));
      } catch {
        await route.abort().catch(() => undefined); // the page or the platform has closed
      }
    },
  );
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(`thrown: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    // Sandboxes add and remove network interfaces; the page retries.
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

/** Opens a page, again if Chromium aborts the load because a network interface appears or disappears, as with sandboxes. */
export async function goTo(page: Page, path: string): Promise<void> {
  for (let more = 3; ; more -= 1) {
    try {
      await page.goto(path);
      return;
    } catch (error) {
      if (more === 0 || !String(error).includes('ERR_NETWORK_CHANGED')) throw error;
    }
  }
}

/** Signs in through the form and waits for the shell. */
export async function signIn(page: Page, { owner }: RunningPlatform, path = '/'): Promise<void> {
  await goTo(page, path);
  await page.getByLabel('Email').fill(owner.email);
  await page.getByLabel('Password', { exact: true }).fill(owner.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('#content h1').waitFor();
}
