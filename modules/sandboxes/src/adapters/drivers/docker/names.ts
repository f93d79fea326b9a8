import { createHash } from 'node:crypto';

/** On everything we create in an engine: the owner (a data folder) and the sandbox. */
export const OWNER_LABEL = 'svc.owner';
export const SANDBOX_LABEL = 'svc.sandbox';
/** On a snapshot's image: its id. */
export const SNAPSHOT_LABEL = 'svc.snapshot';
/** The slot of a network in the address range. */
export const SLOT_LABEL = 'svc.slot';

/** On the helper's image: its tag. */
export const HELPER_LABEL = 'svc.helper';

export const IMAGE_REPOSITORY = 'svc-sandbox-image';
export const HELPER_REPOSITORY = 'svc-sandbox-agent';

/** Several platforms may share an engine; a data folder always maps to the same owner. */
export function ownerOf(dataFolder: string): string {
  return createHash('sha256').update(dataFolder).digest('hex').slice(0, 12);
}

/** Name of a sandbox's container and network. */
export function engineName(owner: string, id: string): string {
  return `svc-${owner}-${id}`;
}

export function filterByOwner(owner: string): { readonly label: readonly string[] } {
  return { label: [`${OWNER_LABEL}=${owner}`] };
}
