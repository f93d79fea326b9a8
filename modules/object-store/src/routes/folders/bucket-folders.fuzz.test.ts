import { createServer } from 'node:http';
import { duplexPair } from 'node:stream';
import type { Logger } from '@svc/telemetry';
import { describeFuzz } from '@svc/testing';
import { expect } from 'vitest';
import type { StoreServices } from '../../domain/services.ts';
import { assertObjectKey } from '../../domain/object-key.ts';
import { storeErrors } from '../../errors.ts';
import { createBucketFolders } from './bucket-folders.ts';

const PREFIX = 'shared/data/';
const folder = { workspaceUuid: 'w', bucketName: 'b', bucketId: 1, prefix: PREFIX, readOnly: false, principalId: 'p' };
const ERRNOS = [
  'EACCES',
  'EDQUOT',
  'EEXIST',
  'EFBIG',
  'EINVAL',
  'EIO',
  'EISDIR',
  'ENAMETOOLONG',
  'ENOENT',
  'ENOSPC',
  'ENOTDIR',
  'ENOTEMPTY',
  'EROFS',
  'ESTALE',
];

/** Keys that the store was asked for, and changes of it, during one input. */
let keys: string[];
let changes: number;
const found = {
  inline: Buffer.from('hello'),
  version: {
    etag: 'e1',
    sizeBytes: 5,
    modifiedAtMs: 1,
    attributes: { contentType: 'a/b', metadata: { mode: '33188' } },
    location: { kind: 'inline' },
  },
};
const touch = (key: string): void => void keys.push(key);
const change = async (key: string): Promise<never> => {
  changes += 1;
  touch(key);
  throw storeErrors.QuotaExceeded();
};

/** A store with a file `file` and a folder `folder`, which refuses every change once it knows the key. */
const services = {
  deps: { workspaceTraffic: { admit: async () => null }, config: { limits: { part_min_bytes: 1 } } },
  traffic: { add: () => undefined },
  buckets: { getOwn: async () => ({ id: 1, workspaceUuid: 'w', createdAtMs: 0 }) },
  configurations: { of: async () => ({ parsed: () => null }) },
  encryption: { open: async () => null, forWrite: async () => null },
  objects: {
    find: async ({ key }: { key: string }) => {
      touch(key);
      if (key === `${PREFIX}file`) return found;
      throw storeErrors.NoSuchKey();
    },
    list: async (_bucket: unknown, { prefix }: { prefix: string }) => {
      touch(prefix);
      const isThere = `${PREFIX}folder/`.startsWith(prefix);
      return {
        objects: isThere ? [{ key: `${PREFIX}folder/x`, sizeBytes: 1, etag: 'e', modifiedAtMs: 1 }] : [],
        commonPrefixes: [],
        next: null,
      };
    },
    put: ({ key }: { key: string }) => change(key),
    delete: ({ key }: { key: string }) => change(key),
  },
  content: {
    store: async () => {
      changes += 1;
      throw storeErrors.QuotaExceeded();
    },
  },
  copies: { object: ({ key }: { key: string }) => change(key) },
  multipart: { create: ({ key }: { key: string }) => change(key), abort: async () => undefined },
} as unknown as StoreServices; // what the routes use

const logged: unknown[] = [];
const log = { error: (details: unknown) => logged.push(details) } as unknown as Logger;
const folders = createBucketFolders(services, log);

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** The answers to requests in these bytes, without a network. */
async function ask(bytes: Buffer, readOnly: boolean): Promise<Answer[]> {
  const answers: Answer[] = [];
  const served: Promise<void>[] = [];
  const server = createServer((request, response) => {
    const end = response.end.bind(response);
    response.end = ((body?: Buffer) => {
      answers.push({ status: response.statusCode, body: body?.toString() ?? '' });
      return end(body);
    }) as typeof response.end; // the only form that is used
    served.push(folders.serve({ ...folder, readOnly }, request, response));
  });
  const [client, accepted] = duplexPair();
  client.on('error', () => undefined).resume();
  accepted.on('error', () => undefined);
  const closed = new Promise((resolve) => accepted.once('close', resolve));
  server.emit('connection', accepted);
  client.end(bytes);
  await closed;
  await Promise.all(served);
  return answers;
}

const request = (line: string, headers = '', body = ''): string =>
  `${line} HTTP/1.1\r\nHost: platform\r\n${headers}${body === '' ? '' : `Content-Length: ${body.length}\r\n`}Connection: close\r\n\r\n${body}`;
const metadata = (value: unknown): string => `X-Metadata: ${Buffer.from(JSON.stringify(value)).toString('base64')}\r\n`;

describeFuzz({
  name: 'requests for mounted buckets',
  corpus: new URL('./corpus/bucket-folders/', import.meta.url),
  seeds: [
    request('GET /lease?'),
    request('GET /stat?path=file'),
    request('GET /stat?path=folder%2Fx%00'),
    request('GET /list?path=folder&after='),
    request('GET /read?path=file', 'If-Match: "e1"\r\nRange: bytes=0-3\r\n'),
    request('PUT /write?path=new&new=1', metadata({ mode: '33188', uid: '1', gid: '-1', mtime: '1.5' }), 'hello'),
    request('PUT /append?path=file&keep=3', `If-Match: "e1"\r\n${metadata({})}`, 'x'),
    request('POST /attributes?path=folder', metadata(null)),
    request('PUT /folder?path=a/b/c', 'X-Metadata: e30x\r\n'),
    request('POST /rename?from=file&to=..%2F..%2Fx'),
    request('POST /rename?from=folder&to=folder%2Fy&new=1'),
    request('DELETE /remove?path=folder&kind=folder'),
    request('GET //stat?path=file'),
    request('GET http://other:99999/stat?path=file'),
  ],
  dictionary: [
    'GET /',
    'PUT /',
    'POST /',
    'DELETE /',
    'stat?',
    'path=',
    '&',
    'to=',
    'from=',
    '%2F',
    '..',
    '%00',
    '%ff',
    '.',
    '//',
    'keep=1e9',
    'X-Metadata: ',
    'bnVsbA==',
    'W10=',
    'If-Match: ',
    '\r\n',
    '__proto__',
    '#',
    '%F0%9F%98%80',
    'x'.repeat(256),
  ],
  run: async (input) => {
    for (const readOnly of [false, true]) {
      keys = [];
      changes = 0;
      logged.length = 0;
      for (const { status, body } of await ask(input, readOnly)) {
        expect([200, 409, 503]).toContain(status);
        if (status !== 200) expect(ERRNOS).toContain((JSON.parse(body) as { errno: string }).errno);
      }
      expect(logged, 'a fault of our own').toEqual([]);
      if (readOnly) expect(changes).toBe(0);
      for (const key of keys) {
        // Nothing outside of the folder is touched, whatever the path.
        expect(key.startsWith(PREFIX), key).toBe(true);
        expect(key.split('/').some((name) => name === '.' || name === '..')).toBe(false);
        if (key.length <= 1_000) expect(() => assertObjectKey(key)).not.toThrow();
      }
    }
  },
});
