import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { AccessKey } from '@svc/s3-sign';
import { ApiError, type CreatedAccessKey, type NewAccessKey } from '@svc/sdk';
import type { ClientEnvironment } from '../configuration-client.ts';
import { CommandFailure, usageFailure } from './command-failure.ts';
import { isSettled, type Connection } from './connection.ts';
import { readIfThere, writePrivateFile } from './private-file.ts';
import type { Session } from './session.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const KEY_LIFE_MS = 30 * DAY_MS;
const MINUTE_MS = 60 * 1000;

/** An S3 access key and its endpoint. */
export interface S3Access extends AccessKey {
  endpoint: string;
  /** Null for the user's own key, which may never expire. */
  expiresAtMs: number | null;
  /** The key expires with its token, so no other key would last longer. */
  endsWithToken?: boolean;
}

type KeySession = Pick<Session, 'environment' | 'target' | 'connect'>;

export interface AccessKeySource {
  /** Returns a key that is valid for at least this long. */
  get(validForMs?: number): Promise<S3Access>;
  /** Call this if the platform no longer knows the key. Returns false if there is no other. */
  renew(): Promise<boolean>;
  /** Call this if the S3 endpoint does not respond. Returns whether it has moved. */
  relocate(): Promise<boolean>;
}

/** Returns the user's own key from the environment, or one created with the token and kept for a month (0600). */
export function accessKeySource({ environment, ...session }: KeySession): AccessKeySource {
  const { accessKeyId, secretAccessKey, endpoint } = environment.s3;
  if (accessKeyId !== undefined || secretAccessKey !== undefined) {
    if (accessKeyId === undefined || secretAccessKey === undefined) {
      throw usageFailure(
        'only one half of an access key is set',
        'set SVC_S3_ACCESS_KEY_ID and SVC_S3_SECRET_ACCESS_KEY',
      );
    }
    const find = async (): Promise<string> => endpoint ?? (await (await session.connect()).store.status()).s3_endpoint;
    let found: Promise<string> | undefined;
    return {
      get: async () => ({ accessKeyId, secretAccessKey, endpoint: await (found ??= find()), expiresAtMs: null }),
      renew: () => Promise.resolve(false),
      relocate: () => Promise.resolve(false), // the endpoint is configured, or was just looked up
    };
  }
  return keptKeySource(environment, session);
}

function keptKeySource(
  environment: ClientEnvironment,
  { target, connect }: Omit<KeySession, 'environment'>,
): AccessKeySource {
  const resolvePath = async (): Promise<string> => {
    const known = await target();
    // A stored key needs no request; otherwise every command would first ask for its own workspace.
    const workspace = isSettled(known) ? (known.workspace ?? '') : (await connect()).workspaceUuid;
    // The name includes the token, so that another user of the same machine account never gets this key.
    const name = createHash('sha256')
      .update(`${known.url}\n${workspace}\n${known.token}\nadmin`)
      .digest('hex')
      .slice(0, 32);
    return join(environment.configFolder, 'keys', `${name}.json`);
  };
  let current: S3Access | null = null;
  const isValid = (access: S3Access | null, validForMs: number): access is S3Access =>
    access !== null &&
    (access.expiresAtMs ?? 0) > Date.now() + (access.endsWithToken === true ? MINUTE_MS : validForMs);
  const keep = async (path: string, access: S3Access): Promise<S3Access> => {
    current = access;
    await writePrivateFile(path, `${JSON.stringify(access)}\n`);
    return access;
  };
  const get = async (validForMs = DAY_MS): Promise<S3Access> => {
    if (isValid(current, validForMs)) return current;
    const path = await resolvePath();
    current ??= readKey(await readIfThere(path));
    if (isValid(current, validForMs)) return current;
    return await keep(path, await makeKey(await connect(), environment.hostname));
  };
  const relocate = async (): Promise<boolean> => {
    const { s3_endpoint: endpoint } = await (await connect()).store.status();
    if (current === null || current.endpoint === endpoint) return false;
    await keep(await resolvePath(), { ...current, endpoint });
    return true;
  };
  const renew = async (): Promise<boolean> => {
    await rm(await resolvePath(), { force: true });
    current = null;
    return true;
  };
  return { get, renew, relocate };
}

/** Creates the best key the token allows, with `admin` if permitted. */
async function makeKey({ store }: Connection, hostname: string): Promise<S3Access> {
  const label = `svc command on ${hostname}`.slice(0, 255);
  try {
    return await makeKeyFor(store, { label, permissions: ['read', 'write', 'admin'] });
  } catch (error) {
    if (!isForbidden(error)) throw error;
  }
  try {
    return await makeKeyFor(store, { label, permissions: ['read', 'write'] });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const hint = 'set SVC_S3_ACCESS_KEY_ID and SVC_S3_SECRET_ACCESS_KEY to a key created for you';
    throw new CommandFailure('you are not allowed to create access keys in this workspace', { hint, cause: error });
  }
}

/** Creates a key that expires after a month, or with the token if that is earlier. */
async function makeKeyFor(store: Connection['store'], wanted: NewAccessKey): Promise<S3Access> {
  const expiresAt = new Date(Date.now() + KEY_LIFE_MS).toISOString();
  try {
    return toAccess(await store.keys.create({ ...wanted, expires_at: expiresAt }));
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'ExpiryTooLate') throw error;
    return { ...toAccess(await store.keys.create(wanted)), endsWithToken: true };
  }
}

function isForbidden(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 403;
}

function toAccess({ accessKeyId, secretAccessKey, s3_endpoint: endpoint, key }: CreatedAccessKey): S3Access {
  const expiresAtMs = key.expires_at === null ? null : Date.parse(key.expires_at);
  return { accessKeyId, secretAccessKey, endpoint, expiresAtMs };
}

function readKey(text: string | null): S3Access | null {
  if (text === null) return null;
  try {
    return JSON.parse(text) as S3Access; // written by this file
  } catch {
    return null; // damaged; replaced by a new one
  }
}
