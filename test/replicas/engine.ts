import { startCuttableProxy, temporaryFolder } from '@svc/testing';
import { apiClient } from '../system/api-client.ts';
import { startPlatform, type RunningPlatform } from '../system/running-platform.ts';

/** An S3 engine that replicas share, and the settings that name it. */
export interface Engine extends AsyncDisposable {
  readonly environment: Readonly<Record<string, string>>;
  /** Ends it like a power failure. */
  kill(): Promise<void>;
  /** Starts it again after `kill`, with its data, at the same address. */
  restart(): Promise<void>;
}

/** Starts another platform, on SQLite, as the S3 engine. */
export async function startEngine(): Promise<Engine> {
  const folder = await temporaryFolder('svc-engine-');
  const start = (): Promise<RunningPlatform> =>
    startPlatform({ dataFolder: folder.path, environment: { SVC_SERVICES: 'object-store' } });
  let platform = await start();
  const { ready } = platform;
  const api = apiClient(ready);
  const base = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
  await api.post(`${base}/buckets`, { name: 'blobs' });
  const { data: key } = await api.post<{ data: { accessKeyId: string; secretAccessKey: string; region: string } }>(
    `${base}/keys`,
    {},
  );
  // A restarted platform has another port.
  const proxy = await startCuttableProxy({
    host: '127.0.0.1',
    get port() {
      return Number(new URL(platform.ready.s3_endpoint).port);
    },
  });
  return {
    environment: {
      SVC_OBJECT_STORE_ENGINE: 's3',
      SVC_OBJECT_STORE_S3_ENDPOINT: `http://127.0.0.1:${proxy.port}`,
      SVC_OBJECT_STORE_S3_REGION: key.region,
      SVC_OBJECT_STORE_S3_BUCKET: 'blobs',
      SVC_OBJECT_STORE_S3_ACCESS_KEY_ID: key.accessKeyId,
      SVC_OBJECT_STORE_S3_SECRET_ACCESS_KEY: key.secretAccessKey,
    },
    kill: () => platform.kill(),
    restart: async () => {
      platform = await start();
    },
    [Symbol.asyncDispose]: async () => {
      await platform.stop();
      await proxy[Symbol.asyncDispose]();
      await folder.remove();
    },
  };
}
