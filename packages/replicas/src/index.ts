export { replicaErrors } from './errors.ts';
export {
  createInstallationStore,
  type Installation,
  type InstallationStore,
  type MasterKeyIds,
} from './installation.ts';
export { assertNoOlderReplicas } from './older-replicas.ts';
export type { Replica, ReplicaClaim, ReplicaStore } from './replica.ts';
export { ReplicaRegistry, type ReplicaRegistryDeps } from './replica-registry.ts';
export { createReplicaStore, REPLICA_LEASE_MS } from './replica-store.ts';
export { createSealedSecrets, SECRET_CHANNEL, type SealedSecrets } from './sealed-secrets.ts';
export type { ReplicaTables } from './tables.ts';
