import { randomBytes } from 'node:crypto';
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

/** Creates a user, and as that user a workspace and its contents: tenants have different owners. */
export async function createTenant(ready: Ready, name: string): Promise<Tenant> {
  const owner = await createOwner(ready, name);
  const { uuid } = await owner.post<{ uuid: string }>('/api/v1/workspaces', { name });
  const { token } = await owner.post<{ token: string }>(`/api/v1/workspaces/${uuid}/service-accounts`, {
    name: 'load',
    scopes: ['read', 'write', 'admin'],
  });
  const bucket = `fairness-${name}`;
  const store = `/api/v1/workspace/${uuid}/object-store`;
  await owner.post(`${store}/buckets`, { name: bucket });
  const { data } = await owner.post<CreatedKey>(`${store}/keys`, { permissions: ['read', 'write', 'admin'] });
  const target = { endpoint: ready.s3_endpoint, region: 'auto', ...data };
  await ask(target.endpoint, new Signer(target).head({ method: 'GET', path: `/${bucket}` }));
  return { url: ready.url, token, workspaceUuid: uuid, bucket, target };
}

async function createOwner(ready: Ready, name: string): Promise<ApiClient> {
  const operator = apiClient(ready);
  const [email, password] = [`${name}@example.com`, randomBytes(18).toString('base64url')];
  const team = await operator.post<{ uuid: string }>('/api/v1/teams', { name: `of ${name}` });
  const invitations = `/api/v1/teams/${team.uuid}/invitations`;
  const invitation = await operator.post<{ token: string }>(invitations, { email, role: 'guest' });
  const nobody = apiClient({ url: ready.url });
  await nobody.post(`/api/v1/invitations/${invitation.token}/accept`, { email, name, password });
  const signedIn = await nobody.post<{ access_token: string }>('/api/auth/login', { email, password });
  return apiClient({ url: ready.url, token: signedIn.access_token });
}
