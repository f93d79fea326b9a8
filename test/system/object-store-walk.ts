import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { apiClient } from './api-client.ts';
import { runProgram } from './run-program.ts';
import type { ReadyLine } from './running-platform.ts';

export interface ObjectStoreWalk {
  readonly bucket: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Output of `aws s3 ls`. */
  readonly listing: string;
  readonly sent: Buffer;
  readonly received: Buffer;
}

interface Envelope<Data> {
  readonly success: boolean;
  readonly data: Data;
}

/**
 * Needs only the ready line: creates a bucket and a key; an ordinary S3 client stores, lists and fetches an object.
 */
export async function walkObjectStore(ready: ReadyLine, folder: string): Promise<ObjectStoreWalk> {
  const api = apiClient(ready);
  const base = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
  const bucket = `walk-${randomBytes(6).toString('hex')}`;
  await api.post(`${base}/buckets`, { name: bucket });
  const { data: key } = await api.post<Envelope<{ accessKeyId: string; secretAccessKey: string; region: string }>>(
    `${base}/keys`,
    { label: 'walk' },
  );
  const environment = {
    AWS_ACCESS_KEY_ID: key.accessKeyId,
    AWS_SECRET_ACCESS_KEY: key.secretAccessKey,
    AWS_DEFAULT_REGION: key.region,
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  const aws = (...args: string[]) =>
    runProgram('aws', ['--endpoint-url', ready.s3_endpoint, 's3', ...args], { environment });

  const sent = randomBytes(100_000);
  await writeFile(join(folder, 'sent.bin'), sent);
  await aws('cp', join(folder, 'sent.bin'), `s3://${bucket}/folder/object.bin`);
  const listing = await aws('ls', `s3://${bucket}/`, '--recursive');
  await aws('cp', `s3://${bucket}/folder/object.bin`, join(folder, 'received.bin'));
  const received = await readFile(join(folder, 'received.bin'));
  return { bucket, accessKeyId: key.accessKeyId, secretAccessKey: key.secretAccessKey, listing, sent, received };
}
