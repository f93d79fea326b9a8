import { randomUUID } from 'node:crypto';
import { CreateBucketCommand, type S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { temporaryFolder } from '@svc/testing';
import { startStore, type RunningStore, type RunningStoreOptions, type TestKey } from './running-store.ts';
import { sdkClient } from './s3-client.ts';

export interface ClientStoreOptions extends RunningStoreOptions {
  /** Bucket to create at the start. Default: none. */
  bucket?: string;
  /** Default: a new workspace. */
  workspaceUuid?: string;
  /** Overrides for the client settings. */
  client?: Partial<S3ClientConfig>;
}

/** A store in its own folder, with an SDK client whose key has full access to one workspace. */
export interface ClientStore extends RunningStore {
  readonly client: S3Client;
  readonly key: TestKey;
  readonly workspaceUuid: string;
  readonly folder: string;
}

/** `close` also destroys the client and removes the folder. */
export async function startClientStore(options: ClientStoreOptions = {}): Promise<ClientStore> {
  const { bucket, workspaceUuid = randomUUID(), client: settings, ...storeOptions } = options;
  const folder = await temporaryFolder();
  const store = await startStore(folder.path, storeOptions);
  const key = await store.createKey({ workspaceUuid });
  const client = sdkClient(store, key, settings);
  if (bucket !== undefined) await client.send(new CreateBucketCommand({ Bucket: bucket }));
  const close = async (): Promise<void> => {
    client.destroy();
    await store.close();
    await folder.remove();
  };
  return { ...store, client, key, workspaceUuid, folder: folder.path, close };
}
