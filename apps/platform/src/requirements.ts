import { missingRequirements } from '@svc/sandboxes';
import type { PlatformConfig } from './config.ts';

/** A program that a service needs, and the Debian package that brings it. */
export interface SystemRequirement {
  provides: string;
  package: string;
  neededFor: string;
}

/** What the configured services still need from the distribution. */
export function missingSystemRequirements(config: PlatformConfig): SystemRequirement[] {
  if (!config.services.includes('sandboxes') || config.sandboxes.driver !== 'local') return [];
  return missingRequirements().map(({ command, debianPackage, reason }) => ({
    provides: command,
    package: debianPackage,
    neededFor: `sandboxes: ${reason}`,
  }));
}
