export type { ArchiveBlobs } from './domain/archives/archive.ts';
export { sandboxQuotas } from './quotas.ts';
export { sandboxesConfigSchema, type SandboxesConfig } from './config.ts';
export type { SandboxesDependencies } from './assembly/dependencies.ts';
export {
  installCommand,
  missingRequirements,
  sandboxRequirements,
  type SandboxRequirement,
} from './adapters/drivers/local/requirements.ts';
export type { SandboxNodes } from './domain/ports.ts';
export { sandboxErrors } from './errors.ts';
export { openImageUpkeep } from './adapters/images/assembly.ts';
export type { ImageUpkeep } from './adapters/images/image-upkeep.ts';
export { describeProgress, type ImageProgress } from './domain/images/progress.ts';
export { createNodeAdministration } from './assembly/node-module.ts';
export type { NodeAdministration } from './domain/nodes/node-administration.ts';
export type { MachineRoom, SandboxNode } from './domain/nodes/sandbox-node.ts';
export { rewrapSandboxSecrets } from './store/rewrap-sealed.ts';
export { createSandboxesModule, type SandboxesModule } from './module.ts';
export { createDisabledSandboxesModule, sandboxesStateSchema, type SandboxesState, type SshPart } from './state.ts';
