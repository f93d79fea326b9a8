export {
  changeMasterKey,
  createPasswordLink,
  listQuotas,
  resetPassword,
  rotateInternalAuthority,
  rotateTokenKeys,
  setDomainBlocked,
  setQuota,
  unsetQuota,
  verifyAudit,
  type QuotaTarget,
} from './administration.ts';
export {
  BREAK_REASONS as AUDIT_BREAK_REASONS,
  type ChainPoint as AuditChainPoint,
  type ChainReport as AuditChainReport,
} from '@svc/accounts';
export { platformConfigSchema, type PlatformConfig } from './config.ts';
export { moveToPostgres } from './database-move.ts';
export { loadPlatformConfig } from './load-config.ts';
export { dataFolderPaths } from './data-folder.ts';
export { renderConfigurationReference } from './configuration-reference.ts';
export { describeImageProgress, openImages, type ImageProgress, type ImageUpkeep } from './images.ts';
export { backUp, type BackupReport } from './object-store/backup.ts';
export { checkObjectStore, scrubObjectStore } from './object-store/check.ts';
export { rotateStoreKeys, storeKeyUsage, type RotateRequest } from './object-store/store-keys.ts';
export { restore, type RestoreReport } from './object-store/restore.ts';
export type { PlatformStatus } from './http/status-routes.ts';
export { renderOpenApi } from './openapi.ts';
export { missingSystemRequirements, type SystemRequirement } from './requirements.ts';
export { shutdownDeadlineMs } from './shutdown.ts';
export { startPlatform, type ReadyLine, type RunningPlatform, type StartOptions } from './start.ts';
