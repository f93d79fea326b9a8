import type { AccessKeyRecord } from './records.ts';

export interface AccessKeyCommands {
  /** `TooManyAccessKeys`, where people made that many already. */
  createAccessKey(input: { key: AccessKeyRecord; maxKeys: number }): Promise<void>;
  /** The key that the store signs URLs of a workspace with: this one, unless there is one already. */
  createPresignKey(input: { key: AccessKeyRecord }): Promise<AccessKeyRecord>;
  /** False when there is no such key. `createdBy` limits it to keys that this principal made. */
  deleteAccessKey(input: { workspaceUuid: string; accessKeyId: string; createdBy?: string }): Promise<boolean>;
  touchAccessKeys(input: { usedAtMs: Readonly<Record<string, number>> }): Promise<void>;
}

export interface AccessKeyQueries {
  findAccessKey(input: { accessKeyId: string }): Promise<AccessKeyRecord | null>;
  findPresignKey(input: { workspaceUuid: string }): Promise<AccessKeyRecord | null>;
  /** Those of people. */
  listAccessKeys(input: { workspaceUuid: string; after: string; limit: number }): Promise<readonly AccessKeyRecord[]>;
}
