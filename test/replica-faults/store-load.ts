import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { Agent } from 'node:http';
import { apiClient } from '../system/api-client.ts';
import { pick } from '../sandbox-kills/client.ts';
import { anyReplica, type Client } from './client.ts';
import type { Content, KnownObject } from './journal.ts';
import type { Replica } from './world.ts';

/** A replica commits writes to several buckets together. */
const BUCKETS = ['campaign-a', 'campaign-b', 'campaign-c'];
const ANSWER_LIMIT_MS = 25_000;
/** Smallest part that S3 accepts before the last one. */
const PART_BYTES = 5 * 1024 * 1024;
/** Larger objects are at the engine, smaller ones in the database. */
const LARGE_BYTES = 300_000;
/** Above this, a client rather deletes. */
const MOST_OBJECTS = 60;

interface AccessKey {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** The buckets of a campaign, through any replica. */
export class Store {
  readonly #credentials: AccessKey;
  readonly #clients = new Map<string, S3Client>();

  private constructor(credentials: AccessKey) {
    this.#credentials = credentials;
  }

  static async create({ ready }: Replica): Promise<Store> {
    if (ready === null) throw new Error('the replica does not run');
    const api = apiClient(ready);
    const base = `/api/v1/workspace/${ready.workspace_uuid}/object-store`;
    for (const name of BUCKETS) await api.post(`${base}/buckets`, { name });
    return new Store((await api.post<{ data: AccessKey }>(`${base}/keys`, {})).data);
  }

  /** A client as programs have it, with the retries of the SDK. A restarted replica has another address. */
  at({ ready }: Replica): S3Client {
    const endpoint = ready?.s3_endpoint ?? '';
    const client = this.#clients.get(endpoint) ?? this.#connect(endpoint);
    this.#clients.set(endpoint, client);
    return client;
  }

  /** Null if there is no such object. */
  async read(replica: Replica, Key: string): Promise<Buffer | null> {
    try {
      const { Body } = await this.at(replica).send(new GetObjectCommand(at(Key)), limited());
      return Buffer.from((await Body?.transformToByteArray()) ?? []);
    } catch (error) {
      if (error instanceof Error && error.name === 'NoSuchKey') return null;
      throw error;
    }
  }

  /** Sizes of all objects by key. */
  async list(replica: Replica): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    for (const Bucket of BUCKETS) {
      let token: string | undefined;
      do {
        const command = new ListObjectsV2Command({ Bucket, ContinuationToken: token });
        const page = await this.at(replica).send(command, limited());
        for (const { Key = '', Size = 0 } of page.Contents ?? []) sizes.set(Key, Size);
        token = page.NextContinuationToken;
      } while (token !== undefined);
    }
    return sizes;
  }

  /** Resolves with the number of attempts that the SDK needed. */
  async put(replica: Replica, Key: string, Body: Buffer): Promise<number> {
    const { $metadata } = await this.at(replica).send(new PutObjectCommand({ ...at(Key), Body }), limited());
    return $metadata.attempts ?? 1;
  }

  async remove(replica: Replica, Key: string): Promise<number> {
    const { $metadata } = await this.at(replica).send(new DeleteObjectCommand(at(Key)), limited());
    return $metadata.attempts ?? 1;
  }

  /** Each request of the upload goes to another replica. Never counts as repeated: an upload completes once. */
  async upload(next: () => Replica, Key: string, bytes: Buffer): Promise<number> {
    const target = at(Key);
    const { UploadId } = await this.at(next()).send(new CreateMultipartUploadCommand(target), limited());
    const Parts: { ETag: string | undefined; PartNumber: number }[] = [];
    for (let start = 0; start < bytes.length; start += PART_BYTES) {
      const PartNumber = Parts.length + 1;
      const Body = bytes.subarray(start, start + PART_BYTES);
      const part = new UploadPartCommand({ ...target, UploadId, PartNumber, Body });
      Parts.push({ ETag: (await this.at(next()).send(part, limited())).ETag, PartNumber });
    }
    const complete = new CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } });
    const { $metadata } = await this.at(next()).send(complete, limited());
    return $metadata.attempts ?? 1;
  }

  close(): void {
    for (const client of this.#clients.values()) client.destroy();
  }

  #connect(endpoint: string): S3Client {
    return new S3Client({
      endpoint,
      region: 'auto',
      forcePathStyle: true,
      credentials: this.#credentials,
      requestHandler: {
        httpAgent: new Agent({ keepAlive: true, maxSockets: 32 }),
        connectionTimeout: 3_000,
        requestTimeout: 8_000,
        throwOnRequestTimeout: true,
      },
    });
  }
}

/** The last character of a key, a digit or a letter, decides about its bucket. */
function at(Key: string): { Bucket: string; Key: string } {
  return { Bucket: BUCKETS[Key.charCodeAt(Key.length - 1) % BUCKETS.length] ?? '', Key };
}

function limited(): { abortSignal: AbortSignal } {
  return { abortSignal: AbortSignal.timeout(ANSWER_LIMIT_MS) };
}

/** Writes, overwrites and deletes objects of its own until the signal. */
export async function useStore(client: Client, store: Store, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) await step(client, store);
}

async function step(client: Client, store: Store): Promise<void> {
  const { journal, name, random } = client;
  const own = [...journal.objects].filter(
    ([key, { isOpen, possible }]) => !isOpen && possible[0] !== null && key.startsWith(`${name}/`),
  );
  const chosen = random() < 0.5 || own.length > MOST_OBJECTS ? pick(random, own) : undefined;
  const key = chosen?.[0] ?? `${name}/${journal.nextNumber()}`;
  const removes = chosen !== undefined && (random() < 0.4 || own.length > MOST_OBJECTS);
  const content = removes ? null : { number: journal.nextNumber(), sizeBytes: sizeOf(random) };
  const known = journal.beginObject(key, content);
  try {
    const attempts = await send(client, store, key, content);
    settle(known, content, attempts);
    journal.count(content === null ? 'objects deleted' : 'objects written');
  } catch (error) {
    journal.count(`S3 failed: ${error instanceof Error ? error.name : String(error)}`);
  }
}

function send(client: Client, store: Store, key: string, content: Content | null): Promise<number> {
  const replica = anyReplica(client);
  if (content === null) return store.remove(replica, key);
  const bytes = client.journal.bytesOf(content);
  if (bytes.length > PART_BYTES) return store.upload(() => anyReplica(client), key, bytes);
  return store.put(replica, key, bytes);
}

/** An attempt that was given up may still be carried out, so a key that needed several is left alone for a while. */
function settle(known: KnownObject, content: Content | null, attempts: number): void {
  known.possible = [content];
  known.isOpen = attempts > 1;
}

function sizeOf(random: () => number): number {
  const draw = random();
  if (draw < 0.01) return PART_BYTES + 1 + Math.floor(random() * 1_000_000);
  return draw < 0.25 ? LARGE_BYTES + Math.floor(random() * 200_000) : 1 + Math.floor(random() * 8_000);
}
