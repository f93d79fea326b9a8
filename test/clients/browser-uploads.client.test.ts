import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { GetObjectCommand, PutBucketCorsCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { createPresignedPost } from '@aws-sdk/s3-presigned-post';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { describeRequiring } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser } from '../browser/support/browser.ts';
import { startClientStore, type ClientStore } from './client-store.ts';

/** A site with its own origin, like an application of our users; the tests create its pages. */
async function startSite(): Promise<{ server: Server; origin: string }> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>A site</title>');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a TCP server's address
  return { server, origin: `http://127.0.0.1:${port}` };
}

describeRequiring(['chromium'], 'a page in Chromium', () => {
  let store: ClientStore;
  let client: S3Client;
  let site: { server: Server; origin: string };
  let browser: Browser;
  let page: Page;
  let Bucket: string;
  beforeAll(async () => {
    store = await startClientStore();
    Bucket = await store.makeBucket();
    const { endpoint, region, accessKeyId, secretAccessKey } = store;
    client = new S3Client({
      endpoint,
      region,
      forcePathStyle: true,
      credentials: { accessKeyId, secretAccessKey },
      requestChecksumCalculation: 'WHEN_REQUIRED', // a browser link cannot include the body's checksum in advance
    });
    site = await startSite();
    browser = await launchBrowser();
    page = await browser.newPage();
    await page.goto(site.origin);
  });
  afterAll(async () => {
    await browser.close();
    site.server.close();
    client.destroy();
    await store.stop();
  });

  const read = async (Key: string): Promise<{ text: string | undefined; type: string | undefined }> => {
    const { Body, ContentType } = await client.send(new GetObjectCommand({ Bucket, Key }));
    return { text: await Body?.transformToString(), type: ContentType };
  };

  it('submits a form with a file and returns to its site', async () => {
    const { url, fields } = await createPresignedPost(client, {
      Bucket,
      Key: 'forms/${filename}',
      Conditions: [
        ['starts-with', '$Content-Type', 'text/'],
        ['eq', '$success_action_redirect', `${site.origin}/done`],
        ['content-length-range', 1, 1_000],
      ],
      Fields: { 'Content-Type': 'text/plain', success_action_redirect: `${site.origin}/done` },
      Expires: 60,
    });
    const inputs = Object.entries(fields).map(([name, value]) => `<input type=hidden name="${name}" value='${value}'>`);
    await page.setContent(
      `<form method=post enctype="multipart/form-data" action="${url}" accept-charset="utf-8">${inputs.join('')}<input type=file name=file><button>Send</button></form>`,
    );
    const file = { name: 'grüße.txt', mimeType: 'text/plain', buffer: Buffer.from('sent by a form') };
    await page.locator('input[type=file]').setInputFiles(file);
    await Promise.all([page.waitForURL(`${site.origin}/done?**`), page.getByRole('button', { name: 'Send' }).click()]);
    expect(new URL(page.url()).searchParams.get('key')).toBe('forms/grüße.txt');
    expect(await read('forms/grüße.txt')).toEqual({ text: 'sent by a form', type: 'text/plain' });
  });

  it('uploads a file by a presigned URL once the bucket allows its origin, and not before', async () => {
    await page.goto(site.origin);
    const put = new PutObjectCommand({ Bucket, Key: 'by-link', ContentType: 'text/plain' });
    const url = await getSignedUrl(client, put, { expiresIn: 60 });
    expect(await putFromPage(url, 'refused')).toBe('Failed to fetch');
    await client.send(
      new PutBucketCorsCommand({
        Bucket,
        CORSConfiguration: {
          CORSRules: [
            {
              AllowedOrigins: [site.origin],
              AllowedMethods: ['PUT', 'GET'],
              AllowedHeaders: ['content-type'],
              ExposeHeaders: ['etag'],
            },
          ],
        },
      }),
    );
    expect(await putFromPage(url, 'sent by a page')).toBe('200 with an etag');
    expect(await read('by-link')).toEqual({ text: 'sent by a page', type: 'text/plain' });
    const link = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'by-link' }), { expiresIn: 60 });
    const text: unknown = await page.evaluate(`fetch(${JSON.stringify(link)}).then((answer) => answer.text())`);
    expect(text).toBe('sent by a page');
  });

  function putFromPage(url: string, body: string): Promise<unknown> {
    const options = { method: 'PUT', headers: { 'content-type': 'text/plain' }, body };
    return page.evaluate(
      `fetch(${JSON.stringify(url)}, ${JSON.stringify(options)}).then((answer) => answer.status + (answer.headers.get('etag') ? ' with an etag' : ' without an etag'), (error) => error.message)`,
    );
  }
});
