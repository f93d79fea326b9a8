import type { DeclaredCapability } from '../driver.ts';

/** What pods lack in every cluster, whatever connects the platform to it. */
export const POD_LACKS: ReadonlySet<DeclaredCapability> = new Set([
  'disk_limit',
  'disk_usage',
  'oom_survival',
  'process_limit',
]);

/** What can read archives of pods, in every cluster. */
export const POD_FORMAT = 'pods';

/** The most that the files of a pod may take. */
export const MAX_ROOT_BYTES = 64 * 1024 ** 3;
