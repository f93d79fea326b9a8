import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { GetObjectCommand, PutObjectCommand, S3Client, type GetObjectCommandInput } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import type { ContentCase } from './content-cases.ts';
import type { RunningPlatform } from './platform.ts';

/** A server of another origin: records the scripts that ran, and serves an attacker's pages. */
export interface Collector extends AsyncDisposable {
  readonly url: string;
  /** `case origin me` of every script that ran. */
  readonly heard: readonly string[];
  forget(): void;
  /** Returns the URL of a page with this text. */
  pageOf(html: string): string;
}

export async function startCollector(): Promise<Collector> {
  const heard: string[] = [];
  const pages: string[] = [];
  const server: Server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://collector');
    if (url.pathname === '/ran') {
      const { searchParams: query } = url;
      heard.push(`${query.get('case') ?? ''} at ${query.get('origin') ?? ''}, me ${query.get('me') ?? ''}`);
    }
    const page = /^\/pages\/(\d+)$/.exec(url.pathname)?.[1];
    response.writeHead(200, { 'content-type': page === undefined ? 'text/plain' : 'text/html' });
    response.end(page === undefined ? '' : pages[Number(page)]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    heard,
    forget: () => void heard.splice(0),
    pageOf: (html) => `${url}/pages/${pages.push(html) - 1}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A bucket with one public object per case. */
export interface ContentStore {
  /** The contract's public route. */
  publicUrl(each: ContentCase): string;
  /** The management route with inline disposition. */
  managementUrl(each: ContentCase): string;
  /** The S3 plane without credentials. */
  anonymousUrl(each: ContentCase): string;
  presignedUrl(each: ContentCase, overrides?: Partial<GetObjectCommandInput>): Promise<string>;
}

const BUCKET = 'content-cases';

export async function storeCases(platform: RunningPlatform, cases: readonly ContentCase[]): Promise<ContentStore> {
  const { buckets, keys } = platform.svc.objectStore({ workspaceUuid: platform.workspaceUuid });
  await buckets.create({ name: BUCKET });
  const { accessKeyId, secretAccessKey } = await keys.create({
    label: 'cases',
    permissions: ['read', 'write', 'admin'],
  });
  const s3 = new S3Client({
    endpoint: platform.s3Endpoint,
    region: 'auto',
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  });
  const keyNames = new Map(cases.map((each, index) => [each.name, `case-${index}`]));
  for (const each of cases) {
    const { body: Body, contentType, contentDisposition: ContentDisposition } = each;
    const ContentType = each.invalid === true ? 'text/html' : contentType;
    const Key = keyNames.get(each.name);
    await s3.send(
      new PutObjectCommand({ Bucket: BUCKET, Key, Body, ContentType, ContentDisposition, ACL: 'public-read' }),
    );
  }
  storeAsOldReleasesDid(platform, cases, keyNames);
  const workspace = platform.workspaceUuid;
  const keyOf = (each: ContentCase): string => keyNames.get(each.name) ?? '';
  const path = `${platform.url}/api/v1`;
  return {
    publicUrl: (each) => `${path}/public/object-store/t/${workspace}/objects/${keyOf(each)}?bucket=${BUCKET}`,
    managementUrl: (each) =>
      `${path}/workspace/${workspace}/object-store/buckets/${BUCKET}/objects/download?key=${keyOf(each)}&inline=1`,
    anonymousUrl: (each) => `${platform.s3Endpoint}/${BUCKET}/${keyOf(each)}`,
    presignedUrl: (each, overrides = {}) =>
      getSignedUrl(s3, new GetObjectCommand({ ...overrides, Bucket: BUCKET, Key: keyOf(each) })),
  };
}

/** Sets media types that every write path now refuses, as stored by old releases. */
function storeAsOldReleasesDid(
  { dataFolder }: RunningPlatform,
  cases: readonly ContentCase[],
  keys: ReadonlyMap<string, string>,
): void {
  const database = new DatabaseSync(join(dataFolder, 'objects', 'objects.db'), { timeout: 10_000 });
  try {
    const change = database.prepare(
      "update object set attributes = json_set(attributes, '$.contentType', ?) where key = ?",
    );
    for (const { name, contentType, invalid } of cases)
      if (invalid === true) change.run(contentType, keys.get(name) ?? '');
  } finally {
    database.close();
  }
}
