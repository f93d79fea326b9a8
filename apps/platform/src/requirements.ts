import { missingRequirements } from '@svc/sandboxes';
import type { PlatformConfig } from './config.ts';

/** A program that a service needs, and its Debian package. */
export interface SystemRequirement {
  provides: string;
  package: string;
  neededFor: string;
}

/** Programs that the configured services need and that are not installed. */
export function missingSystemRequirements(config: PlatformConfig): SystemRequirement[] {
  if (!config.services.includes('sandboxes') || config.sandboxes.driver !== 'local') return [];
  return missingRequirements().map(({ command, debianPackage, reason }) => ({
    provides: command,
    package: debianPackage,
    neededFor: `sandboxes: ${reason}`,
  }));
}
