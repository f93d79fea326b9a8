import { apiClient, type ApiClient } from '@svc/test/api-client';
import { ask } from '../object-store/load/run-load.ts';
import { Signer, type Target } from '../object-store/load/signature.ts';

/** A workspace with its own bucket, key and token; serialized for the load processes. */
export interface Tenant {
  readonly url: string;
  readonly token: string;
  readonly workspaceUuid: string;
  readonly bucket: string;
  readonly target: Target;
}

interface Ready {
  readonly url: string;
  readonly token: string;
  readonly s3_endpoint: string;
}

interface CreatedKey {
  readonly data: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** Creates the workspace and its contents as the operator. */
export async function createTenant(ready: Ready, name: string): Promise<Tenant> {
  const operator = apiClient(ready);
  const { uuid } = await createWorkspace(operator, name);
  const { token } = await operator.post<{ token: string }>(`/api/v1/workspaces/${uuid}/service-accounts`, {
    name: 'load',
    scopes: ['read', 'write', 'admin'],
  });
  const bucket = `fairness-${name}`;
  const store = `/api/v1/workspace/${uuid}/object-store`;
  await operator.post(`${store}/buckets`, { name: bucket });
  const { data } = await operator.post<CreatedKey>(`${store}/keys`, { permissions: ['read', 'write', 'admin'] });
  const target = { endpoint: ready.s3_endpoint, region: 'auto', ...data };
  await ask(target.endpoint, new Signer(target).head({ method: 'GET', path: `/${bucket}` }));
  return { url: ready.url, token, workspaceUuid: uuid, bucket, target };
}

async function createWorkspace(operator: ApiClient, name: string): Promise<{ uuid: string }> {
  return await operator.post<{ uuid: string }>('/api/v1/workspaces', { name });
}
