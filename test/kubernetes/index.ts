export { binariesFolder, ensureBinaries, ensureHelm, KUBERNETES_VERSION } from './binaries.ts';
export type { Kubectl } from './kubectl.ts';
export { helmRequirement, kubernetesRequirement } from './requirement.ts';
export type { Kubernetes } from './shared-cluster.ts';
export { startKubernetes, type StartOptions } from './start.ts';
