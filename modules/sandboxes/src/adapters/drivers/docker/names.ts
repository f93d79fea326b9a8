import { createHash } from 'node:crypto';

/** On everything of ours in an engine: whose it is (a data folder), and of which sandbox. */
export const OWNER_LABEL = 'svc.owner';
export const SANDBOX_LABEL = 'svc.sandbox';
/** On the image of a snapshot: its id. */
export const SNAPSHOT_LABEL = 'svc.snapshot';
/** The place of a network in the range of addresses. */
export const SLOT_LABEL = 'svc.slot';

/** On the image of the helper: its tag. */
export const HELPER_LABEL = 'svc.helper';

export const IMAGE_REPOSITORY = 'svc-sandbox-image';
export const HELPER_REPOSITORY = 'svc-sandbox-agent';

/** Several platforms may share an engine; the same data folder always is the same owner. */
export function ownerOf(dataFolder: string): string {
  return createHash('sha256').update(dataFolder).digest('hex').slice(0, 12);
}

/** Of the container and the network of a sandbox. */
export function engineName(owner: string, id: string): string {
  return `svc-${owner}-${id}`;
}

export function filterByOwner(owner: string): { readonly label: readonly string[] } {
  return { label: [`${OWNER_LABEL}=${owner}`] };
}
