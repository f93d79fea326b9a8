import { AccountsClient } from './accounts.ts';
import { PlatformClient } from './platform.ts';
import { QuotasClient } from './quotas.ts';
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
  /** Limits set by the operator. */
  readonly quotas: QuotasClient;
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
    quotas: new QuotasClient(transport),
    platform: new PlatformClient(transport),
  };
}
