import type { KeyMaker } from './records.ts';

/** Actions that an access key can allow, as named in the platform's authorize table. */
export const STORE_ACTIONS = [
  'bucket:list',
  'bucket:read',
  'bucket:create',
  'bucket:update',
  'bucket:delete',
  'object:list',
  'object:read',
  'object:write',
  'object:delete',
] as const;
/** An action that an access key can allow. */
export type StoreAction = (typeof STORE_ACTIONS)[number];

/** Port to the accounts module: what a key's creator may currently do. */
export interface MakerRights {
  /** Empty if the creator, its token or the workspace no longer exists. */
  allowedActions(request: {
    maker: Pick<KeyMaker, 'principalId' | 'tokenId'>;
    workspaceUuid: string;
    actions: readonly StoreAction[];
  }): Promise<ReadonlySet<string>>;
}
