export { clustersConfigSchema, type ClustersConfig } from './config.ts';
export type { SandboxCluster, SandboxConnections, SandboxTunnels } from './adapters/tunnel/sandbox-tunnels.ts';
export { clusterQuotas } from './quotas.ts';
export { clusterErrors } from './errors.ts';
export type { ClustersModuleDependencies } from './assembly/assembly.ts';
export { createClustersModule, type ClustersModule } from './module.ts';
export { clustersStateSchema, createDisabledClustersModule, type ClustersState } from './state.ts';
export type { ClusterTables } from './store/tables.ts';
