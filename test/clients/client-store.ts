import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testing';
import { apiClient, type ApiClient } from '../system/api-client.ts';
import { runProgram, type ProgramOptions } from '../system/run-program.ts';
import { startPlatform, type ReadyLine } from '../system/running-platform.ts';

/** A separate platform with one key for the whole workspace, and a folder for the clients' files. */
export interface ClientStore {
  readonly ready: ReadyLine;
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly api: ApiClient;
  /** Path of the object store in the management API. */
  readonly storePath: string;
  readonly folder: string;
  /** Variables for the AWS tools, restic and rclone, without the user's own settings. */
  readonly environment: Readonly<Record<string, string>>;
  /** Creates a bucket through the management API. */
  makeBucket(): Promise<string>;
  run(program: string, args: readonly string[], options?: ProgramOptions): Promise<string>;
  stop(): Promise<void>;
}

interface CreatedKey {
  readonly data: { readonly accessKeyId: string; readonly secretAccessKey: string; readonly region: string };
}

export async function startClientStore(): Promise<ClientStore> {
  const root = await temporaryFolder('svc-client-');
  const platform = await startPlatform({ dataFolder: join(root.path, 'data') }).catch(async (error: unknown) => {
    await root.remove();
    throw error;
  });
  const { ready } = platform;
  const folder = join(root.path, 'client');
  await mkdir(folder);
  const api = apiClient(ready);
  const storePath = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
  const makeBucket = async (): Promise<string> => {
    const name = `bucket-${randomBytes(6).toString('hex')}`;
    await api.post(`${storePath}/buckets`, { name });
    return name;
  };
  await makeBucket(); // provisions the store, which keys require
  const wanted = { label: 'clients', permissions: ['read', 'write', 'admin'] };
  const { data } = await api.post<CreatedKey>(`${storePath}/keys`, wanted);
  const environment = {
    HOME: folder,
    AWS_ACCESS_KEY_ID: data.accessKeyId,
    AWS_SECRET_ACCESS_KEY: data.secretAccessKey,
    AWS_DEFAULT_REGION: data.region,
    AWS_CONFIG_FILE: '/dev/null',
    AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
    AWS_EC2_METADATA_DISABLED: 'true',
  };
  return {
    ready,
    endpoint: ready.s3_endpoint,
    ...data,
    api,
    storePath,
    folder,
    environment,
    makeBucket,
    run: (program, args, { environment: more, ...options } = {}) =>
      runProgram(program, args, { ...options, environment: { ...environment, ...more } }),
    stop: async () => {
      await platform.stop();
      await root.remove();
    },
  };
}
