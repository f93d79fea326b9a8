import type { HelperBinaries } from '@svc/helper-binary';
import { openImageUpkeep, type ImageUpkeep } from '@svc/sandboxes';
import type { PlatformConfig } from './config.ts';
import { dataFolderPaths } from './data-folder.ts';

/** The images of the configured data folder; the caller closes it. Works beside a running platform. */
export function openImages(config: PlatformConfig, helperBinaries: HelperBinaries): Promise<ImageUpkeep> {
  return openImageUpkeep({
    config: config.sandboxes,
    dataFolder: dataFolderPaths(config.data).path,
    helperBinaries,
    nowMs: Date.now,
  });
}

export { describeProgress as describeImageProgress, type ImageProgress, type ImageUpkeep } from '@svc/sandboxes';
