import { randomBytes } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectTaggingCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf, digestOfBytes } from '../clients/tree.ts';
import type { CommandLine } from './command-line.ts';
import { startCommandStore, type CommandStore } from './command-store.ts';
import { S3Gate } from './s3-gate.ts';

const MiB = 1024 * 1024;
type Headers = Readonly<Record<string, string>>;

describe('svc object attributes', () => {
  let store: CommandStore;
  let gate: S3Gate;
  let svc: CommandLine;
  let client: S3Client;
  beforeAll(async () => {
    store = await startCommandStore();
    await store.svc.answer(['bucket', 'create', 'described']);
    const credentials = await store.svc.json<{ accessKeyId: string; secretAccessKey: string }>([
      'key',
      'create',
      '--permission',
      'admin',
    ]);
    client = new S3Client({
      endpoint: store.platform.ready.s3_endpoint,
      region: 'auto',
      forcePathStyle: true,
      credentials,
    });
    gate = await S3Gate.open(store.platform.ready.s3_endpoint);
    svc = store.svc.with({
      SVC_S3_ENDPOINT: gate.endpoint,
      SVC_S3_ACCESS_KEY_ID: credentials.accessKeyId,
      SVC_S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    });
  });
  afterAll(async () => {
    client.destroy();
    await gate[Symbol.asyncDispose]();
    await store[Symbol.asyncDispose]();
  });

  const file = async (name: string, content: string | Uint8Array): Promise<string> => {
    const path = join(store.folder, name);
    await writeFile(path, content);
    return path;
  };
  const copy = (...args: string[]): Promise<string> => svc.answer(['object', 'cp', ...args]);
  const stat = (key: string, flags: readonly string[] = [], bucket = 'described'): Promise<Headers> =>
    svc.json<Headers>(['object', 'stat', `svc://${bucket}/${key}`, ...flags]);
  const tagsOf = async (key: string, bucket = 'described'): Promise<Headers> => {
    const { TagSet = [] } = await client.send(new GetObjectTaggingCommand({ Bucket: bucket, Key: key }));
    return Object.fromEntries(TagSet.map(({ Key = '', Value = '' }) => [Key, Value]));
  };

  const WORDS = {
    'content-type': 'text/csv',
    'content-disposition': 'attachment',
    'content-language': 'de',
    'x-amz-meta-colour': 'green',
    'x-amz-meta-shape': 'round',
  };
  const FLAGS = [
    ['--content-type', 'text/csv'],
    ['--content-disposition', 'attachment'],
    ['--content-language', 'de'],
    ['--metadata', 'colour=green'],
    ['--metadata', 'shape=round'],
    ['--tag', 'owner=me + you @ home'],
    ['--tag', 'kind=a'],
  ].flat();

  it('keeps attributes with uploads, multipart uploads and copies', async () => {
    const large = await file('large', randomBytes(6 * MiB));
    // Before the arguments, where a variadic flag would swallow them.
    await copy(...FLAGS, large, 'svc://described/one');
    await copy(large, 'svc://described/parts', '--part-size', '5', ...FLAGS);
    await copy('svc://described/one', 'svc://described/copy');
    for (const key of ['one', 'parts', 'copy']) {
      expect(await stat(key)).toMatchObject(WORDS);
      expect(await tagsOf(key)).toEqual({ owner: 'me + you @ home', kind: 'a' });
    }
  });

  it('changes only the named attributes of a copy', async () => {
    const source = await file('source', 'bytes');
    await copy(source, 'svc://described/before', ...FLAGS);
    await copy('svc://described/before', 'svc://described/after', '--metadata', 'colour=red', '--tag', 'kind=b');
    expect(await stat('after')).toMatchObject({ ...WORDS, 'x-amz-meta-colour': 'red' });
    expect(await tagsOf('after')).toEqual({ kind: 'b' });
    await copy('svc://described/after', 'svc://described/after', '--content-type', 'text/plain');
    expect(await stat('after')).toMatchObject({ 'content-type': 'text/plain', 'x-amz-meta-shape': 'round' });
  });

  it('makes a single object public with an ACL', async () => {
    const path = await file('public', 'for all');
    await copy(path, 'svc://described/open', '--acl', 'public-read');
    await copy(path, 'svc://described/closed');
    const read = (key: string): Promise<Response> => fetch(`${store.platform.ready.s3_endpoint}/described/${key}`);
    expect(await (await read('open')).text()).toBe('for all');
    expect((await read('closed')).status).toBe(403);
    expect(await svc.run(['object', 'cp', path, 'svc://described/x', '--acl', 'everybody'])).toMatchObject({
      exitCode: 2,
    });
  });

  it('encrypts with a customer-provided key, which every read and copy requires', async () => {
    const [key, other] = [randomBytes(32).toString('base64'), randomBytes(32).toString('hex')];
    const [mine, others] = [
      ['--sse-c-key-file', await file('mine', key)],
      ['--sse-c-key-file', await file('others', other)],
    ];
    const path = await file('secret', randomBytes(6 * MiB));
    const byFive = ['--part-size', '5'];
    await copy(path, 'svc://described/secret/one', ...mine);
    await copy(path, 'svc://described/secret/parts', ...mine, ...byFive);
    await svc.answer(['object', 'cp', '-', 'svc://described/secret/pipe', ...mine, ...byFive], {
      input: await readFile(path),
    });
    await copy(
      'svc://described/secret/one',
      'svc://described/secret/copy',
      ...others,
      '--sse-c-source-key-file',
      join(store.folder, 'mine'),
    );
    for (const [name, flags] of [
      ['one', mine],
      ['parts', mine],
      ['pipe', mine],
      ['copy', others],
    ] as const) {
      const location = `svc://described/secret/${name}`;
      const target = join(store.folder, 'opened');
      for (const size of [[], byFive]) {
        await copy(location, target, ...flags, ...size);
        expect(await digestOf(target)).toBe(await digestOf(path));
      }
      expect(digestOfBytes((await svc.run(['object', 'cat', location, ...flags])).stdout)).toBe(await digestOf(path));
      expect(await stat(`secret/${name}`, flags)).toMatchObject({
        'x-amz-server-side-encryption-customer-algorithm': 'AES256',
      });
      expect(await svc.run(['object', 'cat', location])).toMatchObject({ exitCode: 1 });
    }
    const wrong = await svc.run(['object', 'cp', 'svc://described/secret/parts', path, ...others]);
    expect(wrong).toMatchObject({ exitCode: 1 });
    const empty = await svc.run(['object', 'cp', path, 'svc://described/x', '--sse-c-key-file', '/dev/null']);
    expect([empty.exitCode, empty.stderr]).toEqual([2, expect.stringContaining('does not contain a key')]);
  });

  it('copies attributes of an object above 5 GiB without transferring its bytes', async () => {
    // Not encrypted, so that the platform shares the bytes instead of encrypting them again.
    await store.svc.answer(['bucket', 'create', 'large', '--encryption', 'none']);
    const block = await file('block', randomBytes(64 * MiB));
    await copy(block, 'svc://large/block', '--part-size', '64');
    const blocks = 81; // 5.06 GiB
    const name = { Bucket: 'large', Key: 'huge' };
    const { UploadId } = await client.send(
      new CreateMultipartUploadCommand({
        ...name,
        ContentType: 'text/csv',
        Metadata: { colour: 'green' },
        Tagging: 'owner=me',
        ChecksumAlgorithm: 'CRC32',
        ChecksumType: 'FULL_OBJECT',
      }),
    );
    const Parts = [];
    for (let PartNumber = 1; PartNumber <= blocks; PartNumber += 1) {
      const part = { ...name, UploadId, PartNumber, CopySource: 'large/block' };
      const { CopyPartResult } = await client.send(new UploadPartCopyCommand(part));
      Parts.push({ PartNumber, ETag: CopyPartResult?.ETag });
    }
    await client.send(new CompleteMultipartUploadCommand({ ...name, UploadId, MultipartUpload: { Parts } }));
    gate.reset();
    await copy('svc://large/huge', 'svc://large/huge copy', '--metadata', 'shape=round');
    const copied = gate.seen.filter((line) => line.startsWith('PUT'));
    expect(copied).toHaveLength(blocks);
    expect(copied.every((line) => line.includes('partNumber='))).toBe(true);
    const [before, after] = [await stat('huge', [], 'large'), await stat('huge copy', [], 'large')];
    const same = ['content-length', 'content-type', 'etag', 'x-amz-meta-colour', 'x-amz-checksum-crc32'];
    expect(same.map((header) => after[header])).toEqual(same.map((header) => before[header]));
    expect(after).toMatchObject({ 'content-length': String(blocks * 64 * MiB), 'x-amz-meta-shape': 'round' });
    expect(await tagsOf('huge copy', 'large')).toEqual({ owner: 'me' });
  });

  it('deletes in batches of a thousand with rm and sync', async () => {
    const [Bucket, count] = ['described', 1_001];
    const fill = async (): Promise<void> => {
      for (let at = 0; at < count; at += 50) {
        const keys = Array.from({ length: Math.min(50, count - at) }, (_, index) => `many/${at + index}`);
        await Promise.all(keys.map((Key) => client.send(new PutObjectCommand({ Bucket, Key, Body: Key }))));
      }
    };
    const deletions = (): number => gate.seen.filter((line) => /^POST .*[?&]delete/.test(line)).length;
    await fill();
    gate.reset();
    expect(await svc.json(['object', 'rm', '-r', 'svc://described/many/'])).toMatchObject({ deleted: count });
    expect([deletions(), gate.seen.some((line) => line.startsWith('DELETE'))]).toEqual([2, false]);
    await fill();
    await mkdir(join(store.folder, 'empty'));
    gate.reset();
    const sync = ['object', 'sync', join(store.folder, 'empty'), 'svc://described/many', '--delete'];
    const { deleted } = await svc.json<{ deleted: number }>(sync);
    expect([deleted, deletions(), gate.seen.some((line) => line.startsWith('DELETE'))]).toEqual([count, 2, false]);
  });
});
