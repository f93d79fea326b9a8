import { ApiError } from '../errors.ts';
import { pageParameters, type PageQuery } from '../pages.ts';
import type { WorkspaceScope } from '../platform.ts';
import type { CallOptions, Transport } from '../transport.ts';
import { followEvents, pageOfEvents, type EventOptions, type EventPage } from './events.ts';
import { Sandbox, SandboxHandle } from './sandbox.ts';
import { SandboxTransport } from './sandbox-transport.ts';
import type {
  GuestSignIn,
  NewSandbox,
  SandboxCluster,
  SandboxEvent,
  SandboxImage,
  SandboxInfo,
  SandboxPage,
  SandboxQuery,
  SshInfo,
} from './sandbox-types.ts';
import { SecretsClient } from './secrets.ts';
import { WebhooksClient } from './webhooks.ts';
import { SnapshotsClient } from './snapshots.ts';
import { VolumesClient } from './volumes.ts';
import { TemplatesClient } from './templates.ts';

/** Options of a create. */
export interface CreateOptions extends CallOptions {
  /** How long to wait until the sandbox is running; 0 returns immediately. Defaults to 120,000. */
  waitMs?: number | undefined;
  /** Repeating the same request with the same key creates no second sandbox. */
  idempotencyKey?: string | undefined;
  /**
   * Called every two seconds while the sandbox is `creating`. The first sandbox of an image waits for that image;
   * `image_progress` reports how far it is.
   *
   * @example
   * ```ts
   * const onProgress = (info) => console.error(info.image_progress?.message ?? 'Starting the sandbox');
   * await svc.sandboxes.create({ image: 'debian' }, { onProgress });
   * ```
   */
  onProgress?: ((info: SandboxInfo) => void) | undefined;
}

/** Longest hold of one request; long polls cover the rest. */
const MOST_HELD_MS = 30_000;
const DEFAULT_WAIT_MS = 120_000;
const PROGRESS_EVERY_MS = 2_000;

/**
 * The sandboxes of a workspace.
 *
 * @example
 * ```ts
 * const sandbox = await svc.sandboxes.create({ image: 'ubuntu' });
 * const { stdout } = await sandbox.run('uname -a');
 * await sandbox.delete();
 * ```
 */
export class SandboxesClient {
  /** The secrets of the workspace. */
  readonly secrets: SecretsClient;
  /** Webhooks for events of the workspace's sandboxes. */
  readonly webhooks: WebhooksClient;
  /** The snapshots of the workspace. */
  readonly snapshots: SnapshotsClient;
  /** The volumes of the workspace. */
  readonly volumes: VolumesClient;
  /** The templates of the workspace. */
  readonly templates: TemplatesClient;
  readonly #transport: SandboxTransport;
  readonly #plain: Transport;

  constructor(transport: Transport, workspace: WorkspaceScope = {}) {
    this.#plain = transport;
    this.#transport = new SandboxTransport(transport, workspace);
    this.secrets = new SecretsClient(this.#transport);
    this.webhooks = new WebhooksClient(this.#transport);
    this.snapshots = new SnapshotsClient(this.#transport);
    this.volumes = new VolumesClient(this.#transport);
    this.templates = new TemplatesClient(this.#transport);
  }

  /** Returns a client for the sandboxes of another workspace. */
  in(workspace: WorkspaceScope): SandboxesClient {
    return new SandboxesClient(this.#plain, workspace);
  }

  /** Creates a sandbox and waits until it is running. If it fails to start, deletes it and throws. */
  async create(request: NewSandbox, options: CreateOptions = {}): Promise<Sandbox> {
    const { waitMs = DEFAULT_WAIT_MS, idempotencyKey, onProgress, signal } = options;
    const endsAtMs = performance.now() + waitMs;
    const heldAtMostMs = onProgress === undefined ? MOST_HELD_MS : PROGRESS_EVERY_MS;
    const held = Math.min(waitMs, heldAtMostMs);
    const info = await this.#transport.call<SandboxInfo>('POST', '/containers', {
      query: { wait_ms: held },
      body: request,
      headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
      signal,
      timeoutMs: options.timeoutMs ?? held + 30_000,
    });
    const sandbox = new Sandbox(this.#transport, info);
    for (let leftMs = waitMs; sandbox.status === 'creating' && leftMs > 0; leftMs = endsAtMs - performance.now()) {
      onProgress?.(sandbox.info);
      const timeoutMs = onProgress === undefined ? leftMs : Math.min(leftMs, PROGRESS_EVERY_MS);
      await sandbox.waitFor('running', { signal, timeoutMs });
    }
    if (sandbox.status !== 'error') return sandbox;
    await sandbox.delete().catch(() => undefined); // the caller gets the original error
    throw createFailure(sandbox.info);
  }

  /** Returns a sandbox. Throws `NotFoundError` if there is none. */
  async get(id: string, options: CallOptions = {}): Promise<Sandbox> {
    const info = await new SandboxHandle(this.#transport, id).get(options);
    return new Sandbox(this.#transport, info);
  }

  /** Returns a handle without checking that the sandbox exists. */
  of(id: string): SandboxHandle {
    return new SandboxHandle(this.#transport, id);
  }

  /** Returns one page of sandboxes, newest first. */
  async page(query: SandboxQuery & PageQuery = {}, options: CallOptions = {}): Promise<SandboxPage> {
    const { status, name, labels = {} } = query;
    const filters = Object.fromEntries(Object.entries(labels).map(([key, value]) => [`label.${key}`, value]));
    const answer = await this.#transport.call<{
      containers: SandboxInfo[] | null;
      limit: number;
      next_cursor?: string | null;
    }>('GET', '/containers', { query: { status, name, ...filters, ...pageParameters(query) }, ...options });
    // The contract allows null for an empty list.
    return { items: answer.containers ?? [], nextCursor: answer.next_cursor ?? null, limit: answer.limit };
  }

  /** Lists sandboxes, newest first, fetching pages as needed. */
  async *list(query: SandboxQuery & PageQuery = {}, options: CallOptions = {}): AsyncGenerator<Sandbox, void> {
    let cursor = query.cursor;
    do {
      const { items, nextCursor } = await this.page({ ...query, cursor }, options);
      for (const info of items) yield new Sandbox(this.#transport, info);
      cursor = nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Deletes a sandbox and its files. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await this.of(id).delete(options);
  }

  /** Streams events of all sandboxes in the workspace, from now on or after a given event. */
  events(options: EventOptions = {}): AsyncGenerator<SandboxEvent, void> {
    return followEvents(this.#transport, '/events', options);
  }

  /** Returns one page of stored events, newest first. */
  eventPage(page: PageQuery = {}, options: CallOptions = {}): Promise<EventPage> {
    return pageOfEvents(this.#transport, '/events', page, options);
  }

  /**
   * Returns where sandboxes are reached over SSH, and the host key to expect there.
   *
   * @example
   * ```ts
   * const { enabled, port, fingerprint } = await svc.sandboxes.ssh();
   * ```
   */
  ssh(options: CallOptions = {}): Promise<SshInfo> {
    return this.#transport.call<SshInfo>('GET', '/ssh', options);
  }

  /** Lists available images; popular ones only, unless `all`. */
  async images({ all, ...options }: CallOptions & { all?: boolean } = {}): Promise<SandboxImage[]> {
    const query = { all: all === true ? true : undefined };
    return (
      (await this.#transport.call<{ images: SandboxImage[] | null }>('GET', '/images', { query, ...options })).images ??
      []
    );
  }

  /**
   * Lists the connected clusters that run sandboxes, by name.
   *
   * @example
   * ```ts
   * const [cluster] = (await svc.sandboxes.clusters()).filter(({ connected }) => connected);
   * const sandbox = await svc.sandboxes.create({ image: 'ubuntu', cluster: cluster?.name });
   * ```
   */
  async clusters(options: CallOptions = {}): Promise<SandboxCluster[]> {
    return (await this.#transport.call<{ clusters: SandboxCluster[] }>('GET', '/sandbox-clusters', options)).clusters;
  }

  /** Signs in as a guest, for smoke tests on platforms that allow guests. Needs no token and returns one. */
  signInAsGuest(guest: { username: string; email?: string }, options: CallOptions = {}): Promise<GuestSignIn> {
    return this.#plain.call({ method: 'POST', path: '/api/auth/guest', body: guest, ...options });
  }
}

/** Returns the start failure as if the create request itself had been refused. */
function createFailure({ error, state_reason: reason, id }: SandboxInfo): ApiError {
  return new ApiError({
    status: 502,
    code: error?.code ?? reason ?? 'SANDBOX_FAILED',
    message: error?.message ?? 'The sandbox could not be made',
    requestId: null,
    details: { id, recoverable: error?.recoverable ?? false },
    retryAfterSeconds: null,
  });
}
