import type { AccessKeyRecord, KeyMaker } from './records.ts';

export interface AccessKeyCommands {
  /** `TooManyAccessKeys`, where people made that many already. */
  createAccessKey(input: { key: AccessKeyRecord; maxKeys: number }): Promise<void>;
  /** The key that the store signs URLs for a maker with: this one, unless there is one already. */
  createPresignKey(input: { key: AccessKeyRecord }): Promise<AccessKeyRecord>;
  /** False when there is no such key. `createdBy` limits it to keys that this principal made. */
  deleteAccessKey(input: { workspaceUuid: string; accessKeyId: string; createdBy?: string }): Promise<boolean>;
  touchAccessKeys(input: { usedAtMs: Readonly<Record<string, number>> }): Promise<void>;
  /** Removes keys that URLs were signed with and that were not used since then; answers how many. */
  forgetPresignKeys(input: { unusedSinceMs: number; limit: number }): Promise<number>;
}

export interface AccessKeyQueries {
  findAccessKey(input: { accessKeyId: string }): Promise<AccessKeyRecord | null>;
  findPresignKey(input: { workspaceUuid: string; maker: PresignMaker }): Promise<AccessKeyRecord | null>;
  /** Those of people. */
  listAccessKeys(input: { workspaceUuid: string; after: string; limit: number }): Promise<readonly AccessKeyRecord[]>;
}

export type PresignMaker = Pick<KeyMaker, 'principalId' | 'tokenId'>;
