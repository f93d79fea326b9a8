import { AccountsClient } from './accounts.ts';
import { NodesClient } from './nodes.ts';
import { PlatformClient } from './platform.ts';
import { QuotasClient } from './quotas.ts';
import { ServiceAccountsClient } from './service-accounts.ts';
import { TeamsClient } from './teams.ts';
import { Transport, type TransportOptions } from './transport.ts';
import { WorkspacesClient } from './workspaces.ts';

/** The parts of the API that belong to no service. */
export interface CoreClient {
  /** Transport for creating clients of services later, such as `new ClustersClient(core.transport)`. */
  readonly transport: Transport;
  readonly accounts: AccountsClient;
  readonly teams: TeamsClient;
  readonly workspaces: WorkspacesClient;
  /** Machine identities of workspaces. */
  readonly serviceAccounts: ServiceAccountsClient;
  /** Limits set by the operator. */
  readonly quotas: QuotasClient;
  /** Replicas and nodes, for the operator. */
  readonly nodes: NodesClient;
  readonly platform: PlatformClient;
}

/** Creates a client without services, for programs that load those on demand. */
export function createCoreClient(options: TransportOptions): CoreClient {
  const transport = new Transport(options);
  return {
    transport,
    accounts: new AccountsClient(transport),
    teams: new TeamsClient(transport),
    workspaces: new WorkspacesClient(transport),
    serviceAccounts: new ServiceAccountsClient(transport),
    quotas: new QuotasClient(transport),
    nodes: new NodesClient(transport),
    platform: new PlatformClient(transport),
  };
}
