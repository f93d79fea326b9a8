import { sandboxErrors } from '../../errors.ts';
import type { NetworkMode, SandboxDriver } from '../driver.ts';

/** Throws UNSUPPORTED_EGRESS_RULES or INVALID_FIELD. */
export function assertAppliesRules(driver: SandboxDriver, network: NetworkMode): void {
  if (driver.applyRules === undefined) {
    throw sandboxErrors.UNSUPPORTED_EGRESS_RULES({ details: { field: 'egress_rules', driver: driver.name } });
  }
  if (network !== 'egress') {
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'egress_rules', reason: 'needs the network egress' } });
  }
}
