import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { apiClient } from '../system/api-client.ts';
import type { RunningPlatform } from '../system/running-platform.ts';

/** A bucket with a key, as a user has them. */
export interface Store {
  put(key: string, body: Buffer): Promise<void>;
  get(key: string): Promise<Buffer>;
  remove(key: string): Promise<void>;
  /** The same bucket with the same key on another platform. */
  of(platform: RunningPlatform): Store;
}

interface AccessKey {
  accessKeyId: string;
  secretAccessKey: string;
}

const Bucket = 'kept';

/** Creates the bucket and its key. */
export async function openStore(platform: RunningPlatform): Promise<Store> {
  const { ready } = platform;
  const base = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
  const api = apiClient(ready);
  await api.post(`${base}/buckets`, { name: Bucket });
  return createStore(platform, (await api.post<{ data: AccessKey }>(`${base}/keys`, {})).data);
}

function createStore({ ready }: RunningPlatform, credentials: AccessKey): Store {
  const s3 = new S3Client({ endpoint: ready.s3_endpoint, region: 'auto', forcePathStyle: true, credentials });
  return {
    put: async (Key, Body) => void (await s3.send(new PutObjectCommand({ Bucket, Key, Body }))),
    get: async (Key) => {
      const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    },
    remove: async (Key) => void (await s3.send(new DeleteObjectCommand({ Bucket, Key }))),
    of: (platform) => createStore(platform, credentials),
  };
}
