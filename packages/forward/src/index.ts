export { forwardErrors } from './errors.ts';
export { Forwarder, type ForwarderDeps, type Owner, type Owners, type ReplicaIdentity } from './forwarder.ts';
export { HOP_HEADER, HopSignature, type HopSignatureDeps } from './hop.ts';
export { createInternalListener, refuseHops, type InternalListener } from './internal-listener.ts';
export type { Peer } from './peer-agent.ts';
export { replicaUri } from './peer-identity.ts';
