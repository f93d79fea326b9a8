import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { temporaryFolder, waitFor, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient } from './api-client.ts';
import { startPlatform, type RunningPlatform } from './running-platform.ts';

let folder: TemporaryFolder;
let platform: RunningPlatform;
let client: ClientHttp2Session;
let sandboxId: string;

type Headers = Readonly<Record<string, string>>;

const ENVIRONMENT = { SVC_SANDBOXES_IMAGE_REGISTRY: '', SVC_LOG_LEVEL: 'info' };

beforeAll(async () => {
  folder = await temporaryFolder();
  const dataFolder = join(folder.path, 'data');
  platform = await startPlatform({ dataFolder, environment: ENVIRONMENT });
  const ca = await readFile(join(dataFolder, 'tls', 'ca.crt'));
  client = connect(platform.ready.https_url, { ca });
  const created = await call(
    'POST',
    '/e2b/sandboxes',
    { 'x-api-key': (await newKey()).key },
    { templateID: 'busybox' },
  );
  sandboxId = created.body['sandboxID'] as string;
});
afterAll(async () => {
  await platform.stop();
  await folder.remove();
});

async function newKey(): Promise<{ id: string; key: string }> {
  return apiClient(platform.ready).post('/e2b/api-keys', { name: 'agents' });
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: Record<string, unknown>;
}

async function call(method: string, path: string, headers: Headers = {}, body?: unknown): Promise<Answer> {
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const stream = client.request({ ':method': method, ':path': path, ...type, ...headers });
  stream.end(body === undefined ? undefined : JSON.stringify(body));
  const [head] = (await once(stream, 'response')) as [Record<string, string>];
  const received = await text(stream);
  const isJson = head['content-type']?.includes('json') === true;
  return {
    status: Number(head[':status']),
    type: String(head['content-type']),
    body: isJson ? (JSON.parse(received) as Record<string, unknown>) : {}, // the tests expect what they read
  };
}

/** Opens a process without end with the token of the sandbox that the key is granted. */
async function openProcess(key: string): Promise<{ stream: ClientHttp2Stream; ended: Promise<number> }> {
  const { body } = await call('POST', `/e2b/sandboxes/${sandboxId}/connect`, { 'x-api-key': key }, { timeout: 600 });
  const stream = client.request({
    ':method': 'POST',
    ':path': '/e2b/envd/process.Process/Start',
    'content-type': 'application/connect+json',
    'connect-protocol-version': '1',
    'e2b-sandbox-id': sandboxId,
    'x-access-token': String(body['envdAccessToken']),
  });
  const message = Buffer.from(JSON.stringify({ process: { cmd: '/bin/sh', args: ['-c', 'echo on; sleep 1000'] } }));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  stream.end(Buffer.concat([head, message]));
  stream.on('error', () => undefined); // a reset
  const received: Buffer[] = [];
  stream.on('data', (bytes: Buffer) => void received.push(bytes));
  const ended = new Promise<number>((resolve) => void stream.once('close', () => resolve(stream.rstCode ?? 0)));
  await waitFor(() => Buffer.concat(received).includes(Buffer.from('on\n').toString('base64')));
  return { stream, ended };
}

it('serves console, API and the data plane over one connection', async () => {
  const { token } = platform.ready;
  const [page, status, refused, missing] = await Promise.all([
    call('GET', '/'),
    call('GET', '/api/v1/platform/status', { authorization: `Bearer ${token}` }),
    call('GET', '/api/v1/platform/status'),
    call('GET', '/api/v1/missing', { authorization: `Bearer ${token}` }),
  ]);
  expect([page.status, page.type]).toEqual([200, 'text/html; charset=utf-8']);
  expect([status.status, status.body['version']]).toEqual([200, expect.any(String)]);
  expect([refused.status, refused.body['code']]).toEqual([401, 'UNAUTHORIZED']);
  expect(missing.status).toBe(404);
  expect(platform.log()).toContain('"http_version":"2.0"');
});

it('resets the stream of a caller whose key is deleted; the others of the connection live on', async () => {
  const [taken, kept] = [await newKey(), await newKey()];
  const [lost, other] = [await openProcess(taken.key), await openProcess(kept.key)];
  await apiClient(platform.ready).delete(`/e2b/api-keys/${taken.id}`);
  expect(await lost.ended).toBe(constants.NGHTTP2_INTERNAL_ERROR);
  expect([other.stream.closed, client.destroyed]).toEqual([false, false]);
  expect((await call('GET', '/healthz')).status).toBe(200);
  other.stream.close(constants.NGHTTP2_CANCEL);
});

it('tells its clients to go elsewhere when it stops', async () => {
  const told = once(client, 'goaway');
  const stopped = platform.stop();
  const [code] = (await told) as [number];
  expect(code).toBe(constants.NGHTTP2_NO_ERROR);
  expect(await stopped).toBe(0);
  expect(client.closed).toBe(true);
});
