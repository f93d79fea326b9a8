import type { PlatformConfig } from './config.ts';

/** A program that a service needs, and the Debian package that brings it. */
export interface SystemRequirement {
  provides: string;
  package: string;
  neededFor: string;
}

/** What the configured services need from the distribution. `isPresent` decides between alternatives. */
export function systemRequirements(
  config: PlatformConfig,
  isPresent: (program: string) => boolean,
): SystemRequirement[] {
  void isPresent;
  return config.services.includes('sandboxes') ? [] : [];
}
