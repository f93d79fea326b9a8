import { mkdir, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { collectStream, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createConsoleHandler } from './console-handler.ts';

const SCRIPT = `console.log('hello');\n`.repeat(200);
const DOCUMENT = '<!doctype html><title>svc</title>';
const HTML = { accept: 'text/html,application/xhtml+xml' };

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

describe('the console’s files', () => {
  let folder: TemporaryFolder;
  let server: Server;
  let faults: unknown[];

  beforeEach(async () => {
    folder = await temporaryFolder();
    const file = (name: string, content: string | Buffer) => writeFile(join(folder.path, 'built', name), content);
    await mkdir(join(folder.path, 'built/assets'), { recursive: true });
    await writeFile(join(folder.path, 'secret.txt'), 'outside of the folder');
    await file('index.html', DOCUMENT);
    await file('console.json', JSON.stringify({ routes: ['/', '/sign-in', '/w/$workspace/audit'] }));
    await file('assets/index-3f9a.js', SCRIPT);
    await file('assets/index-3f9a.js.br', brotliCompressSync(SCRIPT));
    await file('assets/index-3f9a.js.gz', gzipSync(SCRIPT));
    await file('favicon.svg', '<svg/>');
    faults = [];
    const handler = await createConsoleHandler({
      folder: join(folder.path, 'built'),
      apiPrefixes: ['/api', '/v1', '/metrics'],
      onFault: (error) => faults.push(error),
    });
    server = createServer((incoming, response) => {
      if (!handler.handle(incoming, response)) response.writeHead(418).end('api');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });

  afterEach(async () => {
    await new Promise((resolve) => server.close(resolve));
    await folder.remove();
  });

  const get = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const { port } = server.address() as AddressInfo; // a listening TCP server
      const outgoing = request({ port, host: '127.0.0.1', path, method, headers, agent: false }, (incoming) => {
        collectStream(incoming).then(
          (body) => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body: Buffer.from(body) }),
          reject,
        );
      });
      outgoing.on('error', reject);
      outgoing.end();
    });

  it.each(['/', '/sign-in', '/sign-in?next=%2F', '/w/4f0c/audit', '/w/4f0c/audit/'])(
    'answers its own URL %s with the document, even without a browser’s headers',
    async (path) => {
      const answer = await get(path);
      expect(answer.status).toBe(200);
      expect(answer.body.toString()).toBe(DOCUMENT);
      expect(answer.headers['cache-control']).toBe('no-cache');
    },
  );

  it('shows a page that does not exist to a browser, with a true 404', async () => {
    const answer = await get('/no/such/page', HTML);
    expect(answer.status).toBe(404);
    expect(answer.body.toString()).toBe(DOCUMENT);
  });

  it.each([
    ['a script that fetches a wrong path', '/no/such/page', { accept: '*/*' }],
    ['a page’s subresource', '/assets/gone.js', { ...HTML, 'sec-fetch-mode': 'no-cors' }],
    ['an API path, even typed into a browser', '/api/v1/buckets', HTML],
    ['an API path by itself', '/metrics', HTML],
  ])('leaves %s to the API', async (_what, path, headers) => {
    expect((await get(path, headers)).status).toBe(418);
  });

  it('leaves other methods to the API', async () => {
    expect((await get('/', {}, 'POST')).status).toBe(418);
  });

  it('does not take a path for the API’s only because it begins alike', async () => {
    expect((await get('/apiary', HTML)).status).toBe(404);
  });

  it('lets hashed files be kept for ever, and negotiates their encoding', async () => {
    const plain = await get('/assets/index-3f9a.js');
    expect(plain.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-type': 'text/javascript; charset=utf-8',
      'content-length': String(SCRIPT.length),
      vary: 'accept-encoding',
    });
    expect(plain.body.toString()).toBe(SCRIPT);
    const brotli = await get('/assets/index-3f9a.js', { 'accept-encoding': 'gzip, br' });
    expect(brotli.headers['content-encoding']).toBe('br');
    expect(brotli.body).toEqual(brotliCompressSync(SCRIPT));
    const gzip = await get('/assets/index-3f9a.js', { 'accept-encoding': 'br;q=0, gzip;q=0.5' });
    expect(gzip.headers['content-encoding']).toBe('gzip');
    expect(new Set([plain, brotli, gzip].map(({ headers }) => headers.etag)).size).toBe(3);
  });

  it('answers a client whose copy is current with 304 and no body', async () => {
    const { headers } = await get('/');
    const again = await get('/', { 'if-none-match': `"other", W/${headers.etag ?? ''}` });
    expect(again.status).toBe(304);
    expect(again.body).toHaveLength(0);
    expect((await get('/', { 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('answers HEAD with the headers of GET and no body', async () => {
    const answer = await get('/assets/index-3f9a.js', {}, 'HEAD');
    expect(answer.headers['content-length']).toBe(String(SCRIPT.length));
    expect(answer.body).toHaveLength(0);
  });

  it.each([
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/assets/../../secret.txt',
    '/assets/..%2f..%2fsecret.txt',
    '//secret.txt',
    '/index.html',
    '/console.json',
    '/assets/index-3f9a.js.br',
  ])('serves nothing for %s', async (path) => {
    expect((await get(path)).status).toBe(418);
    const shown = await get(path, HTML);
    expect(shown.status).toBe(404);
    expect(shown.body.toString()).toBe(DOCUMENT);
  });

  it('sends the content policy with every answer', async () => {
    for (const path of ['/', '/assets/index-3f9a.js', '/favicon.svg', '/nowhere']) {
      const { headers } = await get(path, HTML);
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|\*|https?:/);
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['referrer-policy']).toBe('no-referrer');
    }
  });

  it('answers 500 when a file is gone, tells it, and goes on', async () => {
    await rm(join(folder.path, 'built/favicon.svg'));
    expect((await get('/favicon.svg')).status).toBe(500);
    expect(faults).toHaveLength(1);
    expect((await get('/')).status).toBe(200);
  });

  it('refuses a folder that holds no built console', async () => {
    const options = { folder: folder.path, apiPrefixes: [], onFault: () => undefined };
    await expect(createConsoleHandler(options)).rejects.toThrow('holds no built console');
  });
});
