import { AccountsClient } from './accounts.ts';
import { ObjectStoreClient } from './object-store/object-store.ts';
import { PlatformClient } from './platform.ts';
import { TeamsClient } from './teams.ts';
import { Transport, type TransportOptions } from './transport.ts';
import { WorkspacesClient, type WorkspaceRef } from './workspaces.ts';

/** The whole API, one client per part. */
export interface SvcClient {
  readonly accounts: AccountsClient;
  readonly teams: TeamsClient;
  readonly workspaces: WorkspacesClient;
  readonly platform: PlatformClient;
  /** The object store of one workspace. */
  objectStore(workspace: WorkspaceRef): ObjectStoreClient;
}

/**
 *     const svc = createClient({ baseUrl: 'http://127.0.0.1:4000', credential: { kind: 'token', token } });
 *     const { services } = await svc.platform.status();
 */
export function createClient(options: TransportOptions): SvcClient {
  const transport = new Transport(options);
  return {
    accounts: new AccountsClient(transport),
    teams: new TeamsClient(transport),
    workspaces: new WorkspacesClient(transport),
    platform: new PlatformClient(transport),
    objectStore: (workspace) => new ObjectStoreClient(transport, workspace),
  };
}
