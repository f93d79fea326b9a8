import { randomBytes } from 'node:crypto';
import { Connection } from '../object-store/load/connection.ts';
import { sha256, Signer } from '../object-store/load/signature.ts';
import { svcClient, type SvcClient } from '../sandboxes/svc-client.ts';
import type { Tenant } from './tenant.ts';

export type WorkName = 'put' | 'large' | 'get' | 'multipart' | 'create' | 'burn';

/** Sequential work for one tenant; several lanes may call `run` concurrently. */
export interface Work {
  run(lane: number): Promise<void>;
  /** Cleans up after a measured piece; not part of it. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

export const SMALL_BYTES = 4 * 1024;
const MiB = 1024 * 1024;
const KEYS = 2_000;
const READ_KEYS = 16;

export interface WorkOptions {
  /** Size of an object, or of each part. */
  readonly sizeBytes: number;
  readonly parts: number;
  readonly image: string;
}

export function createWork(name: WorkName, tenant: Tenant, options: WorkOptions): Work {
  if (name === 'create') return sandboxWork(tenant, options.image);
  if (name === 'burn') return burnWork(tenant, options.image);
  if (name === 'get') return getWork(tenant, options.sizeBytes);
  return name === 'multipart' ? uploadWork(tenant, options) : putWork(tenant, options.sizeBytes);
}

/** The work of B and A for each kind; all but `put`, `create` and `burn` are larger for A. */
export const LIGHT: Readonly<Record<WorkName, { everyMs: number; sizeBytes: number; parts: number }>> = {
  put: { everyMs: 20, sizeBytes: SMALL_BYTES, parts: 0 },
  large: { everyMs: 100, sizeBytes: MiB, parts: 0 },
  get: { everyMs: 20, sizeBytes: SMALL_BYTES, parts: 0 },
  multipart: { everyMs: 400, sizeBytes: 5 * MiB, parts: 2 },
  create: { everyMs: 250, sizeBytes: 0, parts: 0 },
  burn: { everyMs: 1_000, sizeBytes: 0, parts: 0 },
};
export const HEAVY: Readonly<Record<WorkName, { lanes: number; sizeBytes: number; parts: number }>> = {
  put: { lanes: 64, sizeBytes: SMALL_BYTES, parts: 0 },
  large: { lanes: 16, sizeBytes: 16 * MiB, parts: 0 },
  get: { lanes: 32, sizeBytes: 8 * MiB, parts: 0 },
  multipart: { lanes: 16, sizeBytes: 8 * MiB, parts: 4 },
  create: { lanes: 16, sizeBytes: 0, parts: 0 },
  burn: { lanes: 8, sizeBytes: 0, parts: 0 },
};

class Lanes {
  readonly #endpoint: string;
  readonly #open = new Map<number, Promise<Connection>>();

  constructor(endpoint: string) {
    this.#endpoint = endpoint;
  }

  async send(lane: number, head: Buffer, body?: Uint8Array, keep = false): Promise<string> {
    const connection = this.#open.get(lane) ?? Connection.open(this.#endpoint);
    this.#open.set(lane, connection);
    const answer = await (await connection).send(head, body, keep);
    if (answer.status < 200 || answer.status > 299) throw new Error(`answered ${answer.status}: ${answer.body}`);
    return answer.body;
  }

  async close(): Promise<void> {
    for (const connection of this.#open.values()) (await connection).close();
  }
}

/** Reuses a few keys, so that a long run does not fill the disk. */
function putWork({ target, bucket }: Tenant, sizeBytes: number): Work {
  const body = randomBytes(sizeBytes);
  const signer = new Signer(target);
  const lanes = new Lanes(target.endpoint);
  const payloadHash = sizeBytes > MiB ? 'UNSIGNED-PAYLOAD' : sha256(body);
  const keys = sizeBytes > MiB ? 64 : KEYS;
  const heads = Array.from({ length: keys }, (_, index) =>
    signer.head({ method: 'PUT', path: `/${bucket}/${sizeBytes}/${index}`, bodyBytes: sizeBytes, payloadHash }),
  );
  let next = 0;
  return {
    run: async (lane) => {
      const head = heads[next++ % heads.length];
      if (head !== undefined) await lanes.send(lane, head, body);
    },
    settle: () => Promise.resolve(),
    close: () => lanes.close(),
  };
}

/** Objects stored by the first round; together they exceed our caches. */
function getWork({ target, bucket }: Tenant, sizeBytes: number): Work {
  const signer = new Signer(target);
  const lanes = new Lanes(target.endpoint);
  const body = randomBytes(sizeBytes);
  const paths = Array.from({ length: READ_KEYS }, (_, index) => `/${bucket}/read/${sizeBytes}/${index}`);
  const payloadHash = 'UNSIGNED-PAYLOAD';
  const store = async (): Promise<void> => {
    for (const path of paths) {
      await lanes.send(0, signer.head({ method: 'PUT', path, bodyBytes: sizeBytes, payloadHash }), body);
    }
  };
  let stored: Promise<void> | null = null;
  let next = 0;
  return {
    run: async (lane) => {
      await (stored ??= store());
      const path = paths[next++ % paths.length] ?? '';
      await lanes.send(lane, signer.head({ method: 'GET', path }));
    },
    settle: () => Promise.resolve(),
    close: () => lanes.close(),
  };
}

function uploadWork({ target, bucket }: Tenant, { sizeBytes, parts }: WorkOptions): Work {
  const body = randomBytes(sizeBytes);
  const signer = new Signer(target);
  const lanes = new Lanes(target.endpoint);
  return {
    run: async (lane) => {
      const path = `/${bucket}/multipart/${lane}`;
      const begun = signer.head({ method: 'POST', path, query: { uploads: '' }, bodyBytes: 0 });
      const uploadId = /<UploadId>([^<]+)</.exec(await lanes.send(lane, begun, undefined, true))?.[1] ?? '';
      for (let part = 1; part <= parts; part += 1) {
        const query = { partNumber: String(part), uploadId };
        const payloadHash = 'UNSIGNED-PAYLOAD';
        await lanes.send(lane, signer.head({ method: 'PUT', path, query, bodyBytes: sizeBytes, payloadHash }), body);
      }
      const listed = signer.head({ method: 'GET', path, query: { uploadId } });
      const etags = [...(await lanes.send(lane, listed, undefined, true)).matchAll(/<ETag>([^<]+)</g)];
      const xml = Buffer.from(
        `<CompleteMultipartUpload>${etags
          .map(([, etag], index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`)
          .join('')}</CompleteMultipartUpload>`,
      );
      const query = { uploadId };
      const ended = signer.head({ method: 'POST', path, query, bodyBytes: xml.length, payloadHash: sha256(xml) });
      await lanes.send(lane, ended, xml, true);
    },
    settle: () => Promise.resolve(),
    close: () => lanes.close(),
  };
}

async function createSandbox(client: SvcClient, image: string): Promise<string> {
  const { status, body } = await client.call('POST', '/api/sandboxes?wait_ms=30000', { image });
  // the contract's shape
  const { id, status: state } = JSON.parse(body.toString()) as { id: string; status: string };
  if (status !== 201 || state !== 'running') throw new Error(`create answered ${status}: ${body.toString()}`);
  return id;
}

function sandboxWork({ url, token }: Tenant, image: string): Work {
  const client = svcClient(url, token);
  const made: string[] = [];
  const remove = async (): Promise<void> => {
    for (const id of made.splice(0)) await client.call('DELETE', `/api/sandboxes/${id}`);
  };
  return {
    run: async () => {
      made.push(await createSandbox(client, image));
    },
    settle: remove,
    close: async () => {
      await remove();
      client.close();
    },
  };
}

/** A second of a busy loop in each lane's sandbox. */
function burnWork({ url, token }: Tenant, image: string): Work {
  const client = svcClient(url, token);
  const made = new Map<number, Promise<string>>();
  return {
    run: async (lane) => {
      const sandbox = made.get(lane) ?? createSandbox(client, image);
      made.set(lane, sandbox);
      const command = "timeout 1 sh -c 'while :; do :; done' || true";
      const { status, body } = await client.call('POST', `/api/sandboxes/${await sandbox}/exec`, { command });
      if (status !== 200) throw new Error(`exec answered ${status}: ${body.toString()}`);
    },
    settle: () => Promise.resolve(),
    close: async () => {
      for (const sandbox of made.values()) await client.call('DELETE', `/api/sandboxes/${await sandbox}`);
      client.close();
    },
  };
}
