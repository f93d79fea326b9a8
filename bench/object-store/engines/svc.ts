import { randomBytes } from 'node:crypto';
import { apiClient } from '@svc/test/api-client';
import { startPlatform } from '@svc/test/running-platform';
import type { Engine } from './engine.ts';

export interface SvcEngine extends Engine {
  readonly pid: number;
}

interface CreatedKey {
  readonly data: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** `svc up` with its defaults, without the other services, which the peers lack. */
export async function startSvc(
  dataFolder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<SvcEngine> {
  const platform = await startPlatform({
    dataFolder,
    environment: { SVC_SERVICES: 'object-store', SVC_LOG_LEVEL: 'warn', ...environment },
  });
  const { ready } = platform;
  const api = apiClient(ready);
  const store = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
  await api.post(`${store}/buckets`, { name: `first-${randomBytes(4).toString('hex')}` });
  const { data } = await api.post<CreatedKey>(`${store}/keys`, { permissions: ['read', 'write', 'admin'] });
  return {
    name: 'svc',
    endpoint: ready.s3_endpoint,
    region: 'auto',
    accessKeyId: data.accessKeyId,
    secretAccessKey: data.secretAccessKey,
    pid: ready.pid,
    stop: async () => void (await platform.stop()),
  };
}
