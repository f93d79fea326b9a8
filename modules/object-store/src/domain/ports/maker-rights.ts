import type { KeyMaker } from './records.ts';

/** What an access key can be good for, by the names of the platform's authorize table. */
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
export type StoreAction = (typeof STORE_ACTIONS)[number];

/** Port to the accounts module: what the maker of a key may do today. */
export interface MakerRights {
  /** Empty when the maker, its token or the workspace is gone. */
  allowedActions(request: {
    maker: Pick<KeyMaker, 'principalId' | 'tokenId'>;
    workspaceUuid: string;
    actions: readonly StoreAction[];
  }): Promise<ReadonlySet<string>>;
}
