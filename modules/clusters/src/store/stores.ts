import type { ClusterStore, ConnectionStore } from '../domain/cluster.ts';
import type { CommandStore, DeploymentStore } from '../domain/command.ts';
import type { TelemetryStore } from '../domain/telemetry.ts';
import { createClusterStore } from './cluster-store.ts';
import { createCommandStore } from './command-store.ts';
import { createConnectionStore } from './connection-store.ts';
import { createDeploymentStore } from './deployment-store.ts';
import type { ClusterDatabase } from './tables.ts';
import type { TunnelStore } from '../domain/tunnel.ts';
import { createTunnelStore } from './tunnel-store.ts';
import { createTelemetryStore } from './telemetry-store.ts';

export interface Stores {
  clusters: ClusterStore;
  connectionStore: ConnectionStore;
  commands: CommandStore;
  deployments: DeploymentStore;
  telemetry: TelemetryStore;
  tunnelStore: TunnelStore;
}

export function createStores(database: ClusterDatabase): Stores {
  return {
    clusters: createClusterStore(database),
    connectionStore: createConnectionStore(database),
    commands: createCommandStore(database),
    deployments: createDeploymentStore(database),
    telemetry: createTelemetryStore(database),
    tunnelStore: createTunnelStore(database),
  };
}
