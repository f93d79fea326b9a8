import type { AccessKeyRecord, KeyMaker } from './records.ts';

/** Commands on access keys. */
export interface AccessKeyCommands {
  /** Throws `TooManyAccessKeys` at the limit, which presigning keys do not count toward. */
  createAccessKey(input: { key: AccessKeyRecord; maxKeys: number }): Promise<void>;
  /** Creates the key that signs a creator's URLs, or returns the existing one. */
  createPresignKey(input: { key: AccessKeyRecord }): Promise<AccessKeyRecord>;
  /** False if there is no such key. `createdBy` limits it to that principal's keys. */
  deleteAccessKey(input: { workspaceUuid: string; accessKeyId: string; createdBy?: string }): Promise<boolean>;
  touchAccessKeys(input: { usedAtMs: Readonly<Record<string, number>> }): Promise<void>;
  /** Removes presigning keys not used since then. Returns the number removed. */
  forgetPresignKeys(input: { unusedSinceMs: number; limit: number }): Promise<number>;
}

/** Queries of access keys. */
export interface AccessKeyQueries {
  findAccessKey(input: { accessKeyId: string }): Promise<AccessKeyRecord | null>;
  findPresignKey(input: { workspaceUuid: string; maker: PresignMaker }): Promise<AccessKeyRecord | null>;
  /** Lists keys created by users, without presigning keys. */
  listAccessKeys(input: { workspaceUuid: string; after: string; limit: number }): Promise<readonly AccessKeyRecord[]>;
}

/** The creator that a presigning key belongs to. */
export type PresignMaker = Pick<KeyMaker, 'principalId' | 'tokenId'>;
