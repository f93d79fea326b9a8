export { resetPassword, rotateKeys } from './administration.ts';
export { loadPlatformConfig, platformConfigSchema, type PlatformConfig } from './config.ts';
export { renderConfigurationReference } from './configuration-reference.ts';
export type { PlatformStatus } from './http/status-routes.ts';
export { renderOpenApi } from './openapi.ts';
export { missingSystemRequirements, type SystemRequirement } from './requirements.ts';
export { startPlatform, type ReadyLine, type RunningPlatform, type StartOptions } from './start.ts';
