import { temporaryFolder } from '@svc/testing';
import { apiClient } from '../system/api-client.ts';
import { startPlatform } from '../system/running-platform.ts';

/** An S3 engine that replicas share, and the settings that name it. */
export interface Engine extends AsyncDisposable {
  readonly environment: Readonly<Record<string, string>>;
}

/** Starts another platform, on SQLite, as the S3 engine. */
export async function startEngine(): Promise<Engine> {
  const folder = await temporaryFolder('svc-engine-');
  const platform = await startPlatform({ dataFolder: folder.path, environment: { SVC_SERVICES: 'object-store' } });
  const { ready } = platform;
  const api = apiClient(ready);
  const base = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
  await api.post(`${base}/buckets`, { name: 'blobs' });
  const { data: key } = await api.post<{ data: { accessKeyId: string; secretAccessKey: string; region: string } }>(
    `${base}/keys`,
    {},
  );
  return {
    environment: {
      SVC_OBJECT_STORE_ENGINE: 's3',
      SVC_OBJECT_STORE_S3_ENDPOINT: ready.s3_endpoint,
      SVC_OBJECT_STORE_S3_REGION: key.region,
      SVC_OBJECT_STORE_S3_BUCKET: 'blobs',
      SVC_OBJECT_STORE_S3_ACCESS_KEY_ID: key.accessKeyId,
      SVC_OBJECT_STORE_S3_SECRET_ACCESS_KEY: key.secretAccessKey,
    },
    [Symbol.asyncDispose]: async () => {
      await platform.stop();
      await folder.remove();
    },
  };
}
