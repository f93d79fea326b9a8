import { AccountsClient } from './accounts.ts';
import { PlatformClient } from './platform.ts';
import { QuotasClient } from './quotas.ts';
import { TeamsClient } from './teams.ts';
import { Transport, type TransportOptions } from './transport.ts';
import { WorkspacesClient } from './workspaces.ts';

/** What every program needs: the parts of the API that belong to no service. */
export interface CoreClient {
  /** For clients of services that are made later, such as `new ClustersClient(core.transport)`. */
  readonly transport: Transport;
  readonly accounts: AccountsClient;
  readonly teams: TeamsClient;
  readonly workspaces: WorkspacesClient;
  /** Limits that the operator sets. */
  readonly quotas: QuotasClient;
  readonly platform: PlatformClient;
}

/** A client without the services, for programs that load those when they are used. */
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
