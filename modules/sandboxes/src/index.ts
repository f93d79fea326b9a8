export { sandboxQuotas } from './quotas.ts';
export { sandboxesConfigSchema, type SandboxesConfig } from './config.ts';
export type { SandboxesDependencies } from './dependencies.ts';
export type { DriverStatus } from './drivers/driver.ts';
export {
  installCommand,
  missingRequirements,
  sandboxRequirements,
  type SandboxRequirement,
} from './drivers/local/requirements.ts';
export { sandboxErrors } from './errors.ts';
export { openImageUpkeep } from './images/assembly.ts';
export type { ImageUpkeep } from './images/image-upkeep.ts';
export { describeProgress, type ImageProgress } from './images/progress.ts';
export { createSandboxesModule, type SandboxesModule } from './module.ts';
