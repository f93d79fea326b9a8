import { ClustersClient } from './clusters/clusters.ts';
import { createCoreClient, type CoreClient } from './core.ts';
import { ObjectStoreClient } from './object-store/object-store.ts';
import { sandboxEnvironment } from './environment.ts';
import { SandboxesClient } from './sandboxes/sandboxes.ts';
import type { TransportOptions } from './transport.ts';
import type { WorkspaceRef } from './workspaces.ts';

/** The whole API, one client per part. */
export interface SvcClient extends CoreClient {
  /** The clusters of the caller's own workspace; `clusters.in(workspace)` are those of another. */
  readonly clusters: ClustersClient;
  /** The sandboxes of the caller's own workspace; `sandboxes.in(workspace)` are those of another. */
  readonly sandboxes: SandboxesClient;
  /** @deprecated The same as `sandboxes`, which is the name to use. */
  readonly containers: SandboxesClient;
  /** The object store of one workspace. */
  objectStore(workspace: WorkspaceRef): ObjectStoreClient;
}

/**
 *     const svc = createClient({ baseUrl: 'http://127.0.0.1:4000', credential: { kind: 'token', token } });
 *     const { services } = await svc.platform.status();
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

/** What a client of sandboxes alone has: every server of the sandbox API serves it. */
export type SandboxClient = Pick<SvcClient, 'sandboxes' | 'containers'>;

/** A client made of `SANDBOX_URL` and `SANDBOX_TOKEN`, where the options do not name an address and a credential. */
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
