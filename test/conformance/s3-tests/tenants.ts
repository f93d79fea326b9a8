import { randomBytes } from 'node:crypto';
import { ListBucketsCommand, S3Client } from '@aws-sdk/client-s3';
import { apiClient, type ApiClient } from '../../system/api-client.ts';
import type { ReadyLine } from '../../system/running-platform.ts';

/** A user with their own workspace and a key for all of it. */
export interface Tenant {
  readonly email: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** The bucket owner as shown by the S3 plane. */
  readonly ownerId: string;
  readonly displayName: string;
}

export interface Tenants {
  readonly main: Tenant;
  readonly alt: Tenant;
  readonly tenant: Tenant;
}

export const MAIN_EMAIL = 'main@example.com';

/**
 * Creates three users that share nothing: the installation's owner, and two invited users with their own workspaces.
 */
export async function makeTenants(ready: ReadyLine): Promise<Tenants> {
  const api = apiClient(ready);
  const team = await api.post<{ uuid: string }>('/api/v1/teams', { name: 'Suite' });
  return {
    main: await makeTenant(ready, api, ready.workspace_uuid, MAIN_EMAIL),
    alt: await inviteTenant(ready, api, team.uuid, 'alt'),
    tenant: await inviteTenant(ready, api, team.uuid, 'tenant'),
  };
}

async function inviteTenant(ready: ReadyLine, owner: ApiClient, team: string, name: string): Promise<Tenant> {
  const email = `${name}@example.com`;
  const password = randomBytes(18).toString('base64url');
  const invitation = await owner.post<{ token: string }>(`/api/v1/teams/${team}/invitations`, {
    email,
    role: 'guest',
  });
  const nobody = apiClient({ url: ready.url });
  await nobody.post(`/api/v1/invitations/${invitation.token}/accept`, { email, name, password });
  const { access_token } = await nobody.post<{ access_token: string }>('/api/auth/login', { email, password });
  const api = apiClient({ url: ready.url, token: access_token });
  const workspace = await api.post<{ uuid: string }>('/api/v1/workspaces', { name });
  return makeTenant(ready, api, workspace.uuid, email);
}

interface CreatedKey {
  readonly data: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** The first bucket provisions the workspace's store, which keys require. The suite starts without buckets. */
async function makeTenant(ready: ReadyLine, api: ApiClient, workspace: string, email: string): Promise<Tenant> {
  const store = `/api/v1/workspace/${workspace}/object-store`;
  const first = `before-the-suite-${randomBytes(4).toString('hex')}`;
  await api.post(`${store}/buckets`, { name: first });
  await api.delete(`${store}/buckets/${first}`);
  const wanted = { label: 'conformance', permissions: ['read', 'write', 'admin'] };
  const { data } = await api.post<CreatedKey>(`${store}/keys`, wanted);
  const { accessKeyId, secretAccessKey } = data;
  const owner = await readOwner(ready.s3_endpoint, { accessKeyId, secretAccessKey });
  return { email, accessKeyId, secretAccessKey, ...owner };
}

async function readOwner(
  endpoint: string,
  credentials: { accessKeyId: string; secretAccessKey: string },
): Promise<{ ownerId: string; displayName: string }> {
  const client = new S3Client({ endpoint, region: 'auto', forcePathStyle: true, credentials });
  try {
    const { Owner } = await client.send(new ListBucketsCommand());
    if (Owner?.ID === undefined) throw new Error('ListBuckets did not say who owns the buckets');
    return { ownerId: Owner.ID, displayName: Owner.DisplayName ?? Owner.ID };
  } finally {
    client.destroy();
  }
}
