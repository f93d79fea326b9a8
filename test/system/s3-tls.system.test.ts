import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { join } from 'node:path';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiClient } from './api-client.ts';
import { startPlatform, type RunningPlatform } from './running-platform.ts';

const Bucket = 'over-tls';

describe('the S3 data plane with TLS', () => {
  let folder: TemporaryFolder;
  let platform: RunningPlatform;
  let ca: string;
  let s3: S3Client;

  beforeAll(async () => {
    folder = await temporaryFolder();
    const dataFolder = join(folder.path, 'data');
    platform = await startPlatform({ dataFolder, flags: ['--s3-https-port', '0'] });
    ca = readFileSync(join(dataFolder, 'tls', 'ca.crt'), 'utf8');
    const { url, token, workspace_uuid: workspace, s3_https_endpoint: endpoint } = platform.ready;
    const store = `${url}/api/v1/workspace/${workspace}/object-store`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const post = async (path: string, body: object): Promise<Record<string, string>> => {
      const answer = await fetch(`${store}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      expect(answer.status).toBe(201);
      return ((await answer.json()) as { data: Record<string, string> }).data; // the contract's envelope
    };
    await post('/buckets', { name: 'first' });
    const { accessKeyId = '', secretAccessKey = '' } = await post('/keys', { permissions: ['read', 'write', 'admin'] });
    s3 = new S3Client({
      endpoint: endpoint ?? '',
      region: 'auto',
      forcePathStyle: true,
      credentials: { accessKeyId, secretAccessKey },
      requestHandler: { httpsAgent: new Agent({ ca }) },
    });
  });
  afterAll(async () => {
    s3.destroy();
    await platform.stop();
    await folder.remove();
  });

  it('serves clients that trust the local authority, with the same responses as the plain listener', async () => {
    expect(platform.ready.s3_https_endpoint).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
    await s3.send(new CreateBucketCommand({ Bucket }));
    const body = Buffer.alloc(3 * 1024 * 1024, 'tls');
    await s3.send(new PutObjectCommand({ Bucket, Key: 'k', Body: body }));
    const stored = await s3.send(new GetObjectCommand({ Bucket, Key: 'k' }));
    expect(Buffer.from((await stored.Body?.transformToByteArray()) ?? []).equals(body)).toBe(true);
    expect(await apiClient(platform.ready).get('/healthz')).toMatchObject({ status: 'ok' });
  });

  it('has a certificate for bucket names below the S3 domain', async () => {
    const { port } = new URL(platform.ready.s3_https_endpoint ?? '');
    const asked = get({ host: '127.0.0.1', port, servername: `${Bucket}.s3.localhost`, path: '/', ca });
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]; // Node.js event
    answer.resume();
    expect(answer.statusCode).toBe(403);
  });
});
