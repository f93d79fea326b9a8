export type { CarriedConnections, ClusterAccess, TokenSource } from './access.ts';
export { assertAccepted } from './answers.ts';
export {
  createKubeClient,
  type Applied,
  type ApplyOptions,
  type DeleteOptions,
  type KubeClient,
  type KubeClientOptions,
  type KubeVersion,
  type LogOptions,
  type WatchOptions,
} from './client.ts';
export type { Discovery, ResourceKind } from './discovery.ts';
export { KubernetesStatusError, isStatusError, kubeErrors, type StatusCause } from './errors.ts';
export { fieldAt, isRecord } from './fields.ts';
export { inClusterAccess, type InClusterEnvironment } from './in-cluster.ts';
export { kubeconfigAccess } from './kubeconfig.ts';
export { readLines } from './lines.ts';
export type { ListOptions, ListPage } from './list.ts';
export {
  identityOf,
  referenceOf,
  type KindReference,
  type KubeObject,
  type ManagedFields,
  type ObjectMetadata,
  type ObjectReference,
  type OwnerReference,
} from './objects.ts';
export { resourcePath, segment } from './paths.ts';
export {
  compareVersions,
  Reflector,
  type ReflectorFollower,
  type ReflectorOptions,
  type ReflectorPlace,
  type Sight,
} from './reflector.ts';
export { fileToken, staticToken } from './token-source.ts';
export type { RequestObserver, Transport } from './transport.ts';
export type { WatchEvent } from './watch.ts';
