import { describeRequiring } from '@svc/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { launchFullBrowser } from './support/browser.ts';
import { signIn } from './support/console-page.ts';
import { contentCases, programFor, type ContentCase, type Targets } from './support/content-cases.ts';
import { startCollector, storeCases, type Collector, type ContentStore } from './support/content-store.ts';
import { startPlatform, type RunningPlatform } from './support/platform.ts';

const PAGES_AT_A_TIME = 4;
const PATIENCE_MS = 10_000;
/** Each test opens a few hundred pages. */
const TIMEOUT_MS = 300_000;
/** Every object is requested many times per second. */
const LIMITS = { management_requests_per_second: 100_000 };
/** Public objects on the console's origin: the worst setting an operator can choose. */
const IN_PLACE = { object_store: { public_objects: { domain: '' }, limits: LIMITS } };
const OWN_ORIGIN = { object_store: { limits: LIMITS } };

/** A browser with the owner signed in, and everything that ran in it. */
interface Signed {
  readonly context: BrowserContext;
  /** Messages of scripts, and dialogs they opened. */
  readonly ran: string[];
  /** Opens the URL as a page; downloads are not shown. */
  open(url: string): Promise<void>;
}

async function signedIn(browser: Browser, platform: RunningPlatform): Promise<Signed> {
  const context = await browser.newContext({ baseURL: platform.url, acceptDownloads: false });
  const ran: string[] = [];
  context.on('console', (message) => {
    if (message.text().startsWith('RAN ')) ran.push(message.text());
  });
  context.on('dialog', (dialog) => {
    ran.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  const first = await context.newPage();
  await signIn(first, platform);
  await first.close();
  const idle: Page[] = [];
  return {
    context,
    ran,
    open: async (url) => {
      const page = idle.pop() ?? (await context.newPage());
      // A download has no page, so the browser stays where it is. A viewer that waits for the rest of a broken video or
      // document blocks the load; scripts have run by then.
      const visit = async (): Promise<string> =>
        page.goto(url, { waitUntil: 'load', timeout: PATIENCE_MS }).then(() => 'loaded', String);
      let outcome = await visit();
      // Other tests of this machine add and remove network interfaces.
      for (let more = 3; more > 0 && outcome.includes('ERR_NETWORK_CHANGED'); more -= 1) outcome = await visit();
      if (!/^loaded$|net::ERR_ABORTED|Download is starting|ERR_INVALID_RESPONSE|Timeout/.test(outcome)) {
        throw new Error(outcome);
      }
      // Scripts run before the load completes, and their messages arrive in order.
      await page.evaluate('1').catch(() => undefined);
      idle.push(page);
    },
  };
}

/** Embeds the URL in elements, each given as tag and attribute. */
function embed(url: string, elements: readonly string[]): string {
  const value = url.replaceAll('&', '&amp;');
  return elements.map((each) => `<${each}="${value}"></${each.split(' ', 1)[0] ?? ''}>`).join('');
}

async function forEach<Item>(items: readonly Item[], run: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: PAGES_AT_A_TIME }, worker));
}

describeRequiring(['full-chromium'], 'objects displayed by browsers', () => {
  let browser: Browser;
  let collector: Collector;

  beforeAll(async () => {
    [browser, collector] = await Promise.all([
      launchFullBrowser(['--disable-features=LocalNetworkAccessChecks']),
      startCollector(),
    ]);
  });
  afterAll(async () => {
    await browser.close();
    await collector[Symbol.asyncDispose]();
  });

  describe('on the console’s origin', { timeout: TIMEOUT_MS }, () => {
    let platform: RunningPlatform;
    let cases: readonly ContentCase[];
    let store: ContentStore;
    let signed: Signed;
    let targets: Targets;

    beforeAll(async () => {
      platform = await startPlatform({ config: IN_PLACE });
      targets = { console: platform.url, collector: collector.url };
      cases = contentCases(targets);
      store = await storeCases(platform, cases);
      signed = await signedIn(browser, platform);
    });
    afterAll(async () => {
      await signed.context.close();
      await platform[Symbol.asyncDispose]();
    });
    afterEach(() => {
      signed.ran.length = 0;
    });

    const openAll = async (addressOf: (each: ContentCase) => Promise<string> | string): Promise<void> => {
      await forEach(cases, async (each) => signed.open(await addressOf(each)));
      expect(signed.ran).toEqual([]);
      expect(collector.heard).toEqual([]);
    };

    it('has at least sixty cases with unique names', () => {
      expect(cases.length).toBeGreaterThanOrEqual(60);
      expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
    });

    it('detects a script that does run there, as the owner', async () => {
      const url = `${platform.url}/api/v1/public/object-store/control`;
      const body = `<script>${programFor('control', targets)}</script>`;
      const heard = collector.heard.length;
      await signed.context.route(url, (route) => route.fulfill({ contentType: 'text/html', body }));
      await signed.open(url);
      await expect.poll(() => collector.heard.slice(heard)).toEqual([`control at ${platform.url}, me 200`]);
      expect(signed.ran).toEqual(['RAN control']);
      collector.forget();
    });

    it('runs no script of a public object', () => openAll((each) => store.publicUrl(each)));

    it('runs no script of an object shown by the management API', () => openAll((each) => store.managementUrl(each)));

    it('runs no script of a public object on the S3 plane', () => openAll((each) => store.anonymousUrl(each)));

    it('runs no script behind a presigned URL', () => openAll((each) => store.presignedUrl(each)));

    it('runs no script behind a presigned URL that requests an inline page', () =>
      openAll((each) =>
        store.presignedUrl(each, { ResponseContentType: 'text/html', ResponseContentDisposition: 'inline' }),
      ));

    it('runs no script in frames, objects and embeds of another site', () =>
      openAll(async (each) => {
        const answer = await fetch(store.publicUrl(each), { method: 'HEAD' });
        const isShown = answer.headers.get('content-disposition')?.startsWith('inline') === true;
        // A page that saves more than one file stops and asks.
        if (!isShown) return collector.pageOf(embed(store.publicUrl(each), ['iframe src']));
        const urls = [store.publicUrl(each), store.managementUrl(each), store.anonymousUrl(each)];
        return collector.pageOf(urls.map((url) => embed(url, ['iframe src', 'object data', 'embed src'])).join(''));
      }));

    it('runs no script that a console page is made to load', async () => {
      const page = await signed.context.newPage();
      await page.goto('/');
      await page.locator('#content h1').waitFor();
      for (const each of cases) {
        for (const url of [store.publicUrl(each), store.managementUrl(each)]) {
          expect(await page.evaluate(`(${LOAD_AS_PARTS})(${JSON.stringify(url)})`), `${each.name}: ${url}`).toEqual([]);
        }
      }
      await page.close();
      expect(signed.ran).toEqual([]);
      expect(collector.heard).toEqual([]);
    });

    it('reveals nothing of the console, and no module, to scripts of another site', async () => {
      const scripts = cases.map((each) => `<script src="${store.publicUrl(each)}"></script>`).join('');
      const modules = cases.map((each) => `<script type="module" src="${store.publicUrl(each)}"></script>`).join('');
      const foreign = await browser.newContext();
      const page = await foreign.newPage();
      await page.goto(collector.pageOf(scripts + modules));
      await foreign.close();
      await signed.open(collector.pageOf(scripts + modules));
      for (const heard of collector.heard) expect(heard).toMatch(new RegExp(` at ${collector.url}, me blocked$`));
      collector.forget();
    });
  });

  describe('on a separate origin', { timeout: TIMEOUT_MS }, () => {
    it('redirects page loads there, where no script runs either', async () => {
      await using platform = await startPlatform({ config: OWN_ORIGIN });
      const cases = contentCases({ console: platform.url, collector: collector.url });
      const store = await storeCases(platform, cases);
      const signed = await signedIn(browser, platform);
      await forEach(cases, (each) => signed.open(store.publicUrl(each)));
      expect(signed.ran).toEqual([]);
      expect(collector.heard).toEqual([]);
      const text = cases.find(({ name }) => name === 'utf-8 mark in text');
      const page = await signed.context.newPage();
      if (text !== undefined) await page.goto(store.publicUrl(text));
      expect(new URL(page.url()).host).toBe(`content-cases.objects.localhost:${new URL(platform.url).port}`);
      await signed.context.close();
    });
  });
});

/** Loads the URL as everything that can run; returns what did not fail. A string, since it runs in the page. */
const LOAD_AS_PARTS = `async (url) => {
  const element = (tag, set) => new Promise((resolve) => {
    const made = document.createElement(tag);
    Object.assign(made, set);
    made.onload = () => resolve(tag + ' loaded');
    made.onerror = () => resolve(null);
    document.head.append(made);
  });
  const worker = (Kind, options) => new Promise((resolve) => {
    try {
      const made = new Kind(url, options);
      made.onerror = () => resolve(null);
      (made.port ?? made).onmessage = () => resolve(Kind.name + ' ran');
    } catch { resolve(null); }
  });
  const found = await Promise.all([
    element('script', { src: url }),
    element('script', { src: url, type: 'module' }),
    element('link', { href: url, rel: 'stylesheet' }),
    import(url).then(() => 'imported', () => null),
    worker(Worker, {}),
    worker(Worker, { type: 'module' }),
    navigator.serviceWorker.register(url, { scope: '/api/' }).then(() => 'service worker', () => null),
  ]);
  return found.filter((each) => each !== null);
}`;
