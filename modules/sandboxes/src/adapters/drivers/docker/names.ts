import { createHash } from 'node:crypto';

/** On everything we create in an engine: the owner (a node of an installation) and the sandbox. */
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

/** Who owns what in an engine that several platforms may share. */
export interface Owners {
  /** On everything that is created now. */
  readonly current: string;
  /**
   * On what an older version created: it stands for the path of the data folder, which platforms on two machines may
   * have in common. Only a record tells whose such a sandbox is.
   */
  readonly former: string;
}

/** The installation's id is random and in its database, so no two platforms share an owner. */
export function createOwners(installationId: string, node: string, dataFolder: string): Owners {
  return { current: createOwner(installationId, node), former: digest(dataFolder) };
}

/** The mark of what a node of an installation creates in an engine or cluster that others may share. */
export function createOwner(installationId: string, node: string): string {
  return digest(`${installationId}\n${node}`);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** Name of a sandbox's container and network. */
export function engineName(owner: string, id: string): string {
  return `svc-${owner}-${id}`;
}

export function filterByOwner(owner: string): { readonly label: readonly string[] } {
  return { label: [`${OWNER_LABEL}=${owner}`] };
}
