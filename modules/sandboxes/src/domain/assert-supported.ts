import { sandboxErrors } from '../errors.ts';
import type { SandboxContext } from './context.ts';
import { assertRestores, type CreateRequest } from './create-request.ts';
import type { SandboxDriver } from './driver.ts';
import { assertAppliesRules } from './egress-rules/rule-support.ts';
import { assertMountsBuckets } from './mounts/bucket-mount.ts';
import { assertHasVolumes } from './volumes/volume.ts';

/** Refuses by name what a request wants and the driver lacks. */
export function assertSupported(
  request: CreateRequest,
  driver: SandboxDriver,
  { archives }: Pick<SandboxContext, 'archives'>,
): void {
  const { name } = driver;
  if (request.snapshotId !== null && driver.snapshots === undefined) {
    throw sandboxErrors.SNAPSHOTS_UNAVAILABLE({ details: { field: 'snapshot_id', driver: name } });
  }
  if (request.template !== null && driver.builds === undefined) {
    throw sandboxErrors.TEMPLATES_UNAVAILABLE({ details: { field: 'template', driver: name } });
  }
  if (request.onDrain === 'snapshot' && driver.snapshots === undefined) {
    throw sandboxErrors.SNAPSHOTS_UNAVAILABLE({ details: { field: 'on_drain', driver: name } });
  }
  if (request.volumes.length > 0) assertHasVolumes(driver, 'volumes');
  if (request.mounts.length > 0) assertMountsBuckets(driver, request.isolation);
  if (request.onNodeLost === 'restore') assertRestores(request, 'on_node_lost', { driver, archives });
  if (request.onDrain === 'move') assertRestores(request, 'on_drain', { driver, archives });
  if (request.egressAllow !== null && driver.limitsEgress !== true) {
    throw sandboxErrors.UNSUPPORTED_EGRESS({ details: { field: 'egress_allow', driver: name } });
  }
  if (request.egressRules.length > 0) assertAppliesRules(driver, request.network);
  if (request.onExpiry === 'pause' && driver.lacks?.has('pause') === true) {
    throw sandboxErrors.PAUSE_UNAVAILABLE({ details: { field: 'on_expiry', driver: name } });
  }
}
