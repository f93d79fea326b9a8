export { binariesFolder, ensureBinaries, KUBERNETES_VERSION } from './binaries.ts';
export type { Kubectl } from './kubectl.ts';
export { kubernetesRequirement } from './requirement.ts';
export { startKubernetes, type Kubernetes, type StartOptions } from './start.ts';
