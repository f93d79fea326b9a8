import { ClustersClient } from './clusters/clusters.ts';
import { createCoreClient, type CoreClient } from './core.ts';
import { ObjectStoreClient } from './object-store/object-store.ts';
import { SandboxesClient } from './sandboxes/sandboxes.ts';
import type { TransportOptions } from './transport.ts';
import type { WorkspaceRef } from './workspaces.ts';
import { SvcError } from './errors.ts';

/** A client of the whole API. */
export interface SvcClient extends CoreClient {
  /** Clusters of the caller's default workspace. Use `clusters.in(workspace)` for another. */
  readonly clusters: ClustersClient;
  /** Sandboxes of the caller's default workspace. Use `sandboxes.in(workspace)` for another. */
  readonly sandboxes: SandboxesClient;
  /** @deprecated Use `sandboxes`. */
  readonly containers: SandboxesClient;
  /** Returns the client of a workspace's object store. */
  objectStore(workspace: WorkspaceRef): ObjectStoreClient;
}

/**
 * Creates a client of the whole API.
 *
 * @example
 * ```ts
 * const svc = createClient({ baseUrl: 'http://127.0.0.1:4000', credential: { kind: 'token', token } });
 * const { services } = await svc.platform.status();
 * ```
 */
export function createClient(options: TransportOptions): SvcClient {
  const core = createCoreClient(options);
  const { transport } = core;
  const sandboxes = new SandboxesClient(transport);
  return {
    ...core,
    clusters: new ClustersClient(transport),
    sandboxes,
    containers: sandboxes,
    objectStore: (workspace) => new ObjectStoreClient(transport, workspace),
  };
}

/** A client for sandboxes only, which works with every server of the sandbox API. */
export type SandboxClient = Pick<SvcClient, 'sandboxes' | 'containers'>;

/**
 * Creates a client for sandboxes only. The address and the token default to `SANDBOX_URL` and `SANDBOX_TOKEN`.
 *
 * @example
 * ```ts
 * const { sandboxes } = createSandboxClient();
 * const sandbox = await sandboxes.create({ image: 'debian' });
 * ```
 */
export function createSandboxClient(options: Partial<TransportOptions> = {}): SandboxClient {
  const { baseUrl, credential } = options;
  if (baseUrl !== undefined && credential !== undefined) return createClient({ ...options, baseUrl, credential });
  const environment = sandboxEnvironment();
  return createClient({
    ...options,
    baseUrl: baseUrl ?? environment.baseUrl,
    credential: credential ?? { kind: 'token', token: environment.token },
  });
}

/** Reads `SANDBOX_URL` and `SANDBOX_TOKEN`, like every client library of the sandbox API (contract, section 5). */
function sandboxEnvironment(): { baseUrl: string; token: string } {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } }; // absent in browsers
  const { SANDBOX_URL: baseUrl = '', SANDBOX_TOKEN: token = '' } = process?.env ?? {};
  if (baseUrl === '' || token === '') {
    throw new SvcError(`${baseUrl === '' ? 'SANDBOX_URL' : 'SANDBOX_TOKEN'} is not set`);
  }
  return { baseUrl, token };
}
