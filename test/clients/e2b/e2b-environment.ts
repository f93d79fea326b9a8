import { apiClient } from '../../system/api-client.ts';
import type { ReadyLine } from '../../system/running-platform.ts';

/** Creates a key for E2B clients in the owner's workspace. */
export async function createE2bKey(ready: ReadyLine): Promise<string> {
  const account = { name: 'e2b', scopes: ['write'], token_format: 'e2b' };
  const path = `/api/v1/workspaces/${ready.workspace_uuid}/service-accounts`;
  return (await apiClient(ready).post<{ token: string }>(path, account)).token;
}

/** Variables that point the SDKs at the platform, as `docs/e2b.md` names them. */
export function e2bEnvironment({ url }: ReadyLine, key: string): Record<string, string> {
  const [api, envd] = [`${url}/e2b`, `${url}/e2b/envd`];
  return { E2B_API_URL: api, E2B_SANDBOX_URL: envd, E2B_VOLUME_API_URL: api, E2B_API_KEY: key };
}
