import { randomBytes } from 'node:crypto';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { describeRequiring } from '@svc/testing';
import { expect, it } from 'vitest';
import { descendants } from '../system/process-facts.ts';
import { startCeph, type Ceph } from './start.ts';

const BUCKET = 'harness';
const KEY = 'folder/object.bin';
const DAEMONS: ReadonlySet<string> = new Set(['ceph-mon', 'ceph-osd', 'radosgw']);

describeRequiring(
  ['linux', 'command:ceph-mon', 'command:ceph-osd', 'command:ceph', 'command:radosgw'],
  'a local RADOS gateway',
  () => {
    it('keeps an object across a gateway restart and leaves no process behind', async () => {
      const ceph = await startCeph();
      const sent = randomBytes(1_000_003);
      try {
        const client = clientOf(ceph);
        await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
        await client.send(new PutObjectCommand({ Bucket: BUCKET, Key: KEY, Body: sent }));
        expect((await read(client)).equals(sent)).toBe(true);

        await ceph.stopGateway();
        await expect(fetch(ceph.endpoint)).rejects.toThrow('fetch failed');
        await ceph.startGateway();
        expect((await read(client)).equals(sent)).toBe(true);
        client.destroy();
        expect(daemonsOf(process.pid)).toEqual(['ceph-mon', 'ceph-osd', 'radosgw']);
      } finally {
        await ceph.stop();
      }
      expect(daemonsOf(process.pid)).toEqual([]);
    });
  },
);

/** Names of Ceph's daemons below a process. */
function daemonsOf(pid: number): string[] {
  const programs = [...descendants(pid).values()].map((line) => line.split(' ')[0]?.split('/').at(-1) ?? '');
  return programs.filter((name) => DAEMONS.has(name)).toSorted();
}

function clientOf(ceph: Ceph): S3Client {
  const { endpoint, accessKeyId, secretAccessKey } = ceph;
  return new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  });
}

async function read(client: S3Client): Promise<Buffer> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket: BUCKET, Key: KEY }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}
