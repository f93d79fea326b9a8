import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CreateBucketCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { startStore, type RunningStore } from '@svc/object-store/testing/running-store';
import { sdkClient } from '@svc/object-store/testing/s3-client';
import { startPlatform, type Answer, type TestPlatform } from '@svc/sandboxes/testing/platform';
import type { SandboxesConfig } from '@svc/sandboxes';
import { temporaryFolder, waitFor, type FakeCaller, type TemporaryFolder } from '@svc/testing';
import type { Outcome } from './outcome.ts';

/** What a command in a sandbox of the API returned. */
export interface ShellResult {
  readonly exitCode: number;
  readonly output: string;
}

/** A sandbox of the API, with the probe in it. */
export interface ApiSandbox {
  readonly id: string;
  shell(script: string, user?: string): Promise<ShellResult>;
  /** Done if the script ends with exit code 0. */
  succeeds(script: string, user?: string): Promise<Outcome>;
  probe(...args: string[]): Promise<Outcome>;
  remove(): Promise<void>;
}

/** What API, SSH listener, builds and mounts are tried with: the module over the driver, with a real object store. */
export interface PlatformGround {
  readonly platform: TestPlatform;
  /** The content of the probe. */
  readonly probe: Buffer;
  /** Creates a sandbox; throws if it does not run. The owner is its creator unless the options name another one. */
  create(body?: Readonly<Record<string, unknown>>, caller?: FakeCaller): Promise<ApiSandbox>;
  /** The same one for the same name. */
  sandbox(name: string, body?: Readonly<Record<string, unknown>>): Promise<ApiSandbox>;
  /** A bucket of the owner's workspace with objects; the same one for the same purpose. Returns its name. */
  bucket(purpose: string, objects: readonly StoredObject[]): Promise<string>;
  /** A client of the owner's buckets, and the object store behind it. */
  readonly client: S3Client;
  readonly store: RunningStore;
  close(): Promise<void>;
}

export interface StoredObject {
  readonly key: string;
  readonly content: string | Buffer;
  readonly metadata?: Readonly<Record<string, string>>;
}

export const PROBE = '/bin/probe';
/** A pod may have to wait for its image. */
const START_LIMIT_MS = 120_000;
const RESOURCES = { cpu: 1, memory_mb: 128, disk_mb: 64, pids: 64 };
const SETTINGS: Partial<SandboxesConfig> = {
  ssh: { port: 0, max_connections: 100 },
  default_image: 'busybox',
  prepared_starts: 0,
  max_per_caller: 1000,
  max_creates_per_minute: 10_000,
  max_terminals_per_minute: 10_000,
};

/** Starts the module with the settings of a driver. */
export async function openPlatform(config: Partial<SandboxesConfig>, probeFile: string): Promise<PlatformGround> {
  const folder = await temporaryFolder('svc-escapes-');
  const store = await startStore(join(folder.path, 'store'));
  try {
    const platform = await startPlatform({
      prepare: null, // nodes of a cluster have their own
      buckets: store.module.folders,
      config: { ...SETTINGS, ...config },
    });
    return await groundOf(platform, store, folder, await readFile(probeFile));
  } catch (error) {
    await store.close();
    await folder.remove();
    throw error;
  }
}

async function groundOf(
  platform: TestPlatform,
  store: RunningStore,
  folder: TemporaryFolder,
  probe: Buffer,
): Promise<PlatformGround> {
  const { workspaceUuid } = platform.owner;
  const client = sdkClient(store, await store.createKey({ workspaceUuid }));
  const named = new Map<string, Promise<ApiSandbox>>();
  const created = new Set<ApiSandbox>();
  const buckets = new Map<string, Promise<string>>();
  const createBucket = async (objects: readonly StoredObject[]): Promise<string> => {
    const bucket = `escapes-${randomBytes(6).toString('hex')}`;
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
    for (const { key, content, metadata = {} } of objects) {
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: content, Metadata: metadata }));
    }
    return bucket;
  };
  const create: PlatformGround['create'] = async (body = {}, caller = platform.owner) => {
    const source = 'template' in body ? {} : { image: 'busybox' };
    const full = { ...source, resources: RESOURCES, ...body };
    const { body: made } = await platform.call('POST', '/api/containers', { body: full, caller });
    if (made['id'] === undefined) throw new Error(`it was not created: ${JSON.stringify(made)}`);
    const sandbox = sandboxOf(platform, String(made['id']), caller, () => created.delete(sandbox));
    created.add(sandbox);
    const state = await waitFor(
      async () => {
        const { body: now } = await platform.call('GET', `/api/containers/${sandbox.id}`, { caller });
        return now['status'] === 'creating' ? null : now;
      },
      { timeoutMs: START_LIMIT_MS },
    );
    if (state['status'] !== 'running') throw new Error(`it does not run: ${JSON.stringify(state)}`);
    await upload(platform, sandbox.id, caller, probe);
    return sandbox;
  };
  return {
    platform,
    probe,
    client,
    store,
    create,
    sandbox(name, body) {
      const found = named.get(name) ?? create(body);
      named.set(name, found);
      return found;
    },
    bucket(purpose, objects) {
      const found = buckets.get(purpose) ?? createBucket(objects);
      buckets.set(purpose, found);
      return found;
    },
    async close() {
      for (const each of created) await each.remove();
      await platform.dispose();
      client.destroy();
      await store.close();
      await folder.remove();
    },
  };
}

function sandboxOf(platform: TestPlatform, id: string, caller: FakeCaller, removed: () => void): ApiSandbox {
  const shell: ApiSandbox['shell'] = async (script, user = 'root') => {
    const body = { command: ['sh', '-c', script], user };
    const answer = await platform.call('POST', `/api/containers/${id}/exec`, { body, caller });
    if (answer.status !== 200) return { exitCode: 255, output: failureOf(answer) };
    return { exitCode: Number(answer.body['exit_code']), output: String(answer.body['output']).trim() };
  };
  const succeeds: ApiSandbox['succeeds'] = async (script, user) => {
    const { exitCode, output } = await shell(script, user);
    return { done: exitCode === 0, detail: output };
  };
  return {
    id,
    shell,
    succeeds,
    probe: (...args) => succeeds([PROBE, ...args].map((each) => `'${each}'`).join(' ')),
    async remove() {
      removed();
      await platform.call('DELETE', `/api/containers/${id}`, { caller });
    },
  };
}

async function upload(platform: TestPlatform, id: string, caller: FakeCaller, content: Buffer): Promise<void> {
  const answer = await fetch(`${platform.url}/api/containers/${id}/files?path=${PROBE}&mode=755`, {
    method: 'POST',
    headers: { ...caller.headers, 'content-type': 'application/octet-stream' },
    body: new Uint8Array(content),
  });
  if (answer.status >= 300) throw new Error(`the probe was not taken: ${await answer.text()}`);
}

/** The code and text of a refusal. */
export function failureOf({ status, body }: Answer): string {
  return `${status} ${String(body['code'])}: ${String(body['message'])}`;
}
