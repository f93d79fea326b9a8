import type { Page } from '../accounts-types.ts';
import { listPage, pageParameters, type PageQuery } from '../pages.ts';
import type { WorkspaceScope } from '../platform.ts';
import type { CallOptions, Transport } from '../transport.ts';
import { Cluster } from './cluster.ts';
import { ClusterScope } from './cluster-scope.ts';
import type { ClusterInfo, CreatedCluster } from './cluster-types.ts';

/**
 * The clusters of a workspace.
 *
 * @example
 * ```ts
 * const { token, install } = await svc.clusters.create('production');
 * const cluster = svc.clusters.of('production');
 * const { status } = await cluster.deployAndWait({ project_id: 'shop', namespace: 'default', manifest });
 * ```
 */
export class ClustersClient {
  readonly #transport: Transport;
  readonly #scope: ClusterScope;

  constructor(transport: Transport, workspace: WorkspaceScope = {}) {
    this.#transport = transport;
    this.#scope = new ClusterScope(transport, workspace);
  }

  /** Returns a client for the clusters of another workspace. */
  in(workspace: WorkspaceScope): ClustersClient {
    return new ClustersClient(this.#transport, workspace);
  }

  /** Registers a cluster. The token of its agent is in this response only. */
  create(name: string, options: CallOptions = {}): Promise<CreatedCluster> {
    return this.#scope.call('POST', '', { body: { name }, ...options });
  }

  /** Lists one page of clusters, by name. */
  page(page: PageQuery = {}, options: CallOptions = {}): Promise<Page<ClusterInfo>> {
    const request = this.#scope.request('', { query: pageParameters(page), ...options });
    return listPage(this.#transport, 'clusters', request);
  }

  /** Lists all clusters by name, fetching pages as needed. */
  async *list(page: PageQuery = {}, options: CallOptions = {}): AsyncGenerator<ClusterInfo, void> {
    let { cursor } = page;
    do {
      const { items, nextCursor } = await this.page({ ...page, cursor }, options);
      yield* items;
      cursor = nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** Returns a cluster. Throws `NotFoundError` if there is none. */
  get(nameOrId: string, options: CallOptions = {}): Promise<ClusterInfo> {
    return this.of(nameOrId).get(options);
  }

  /** Deletes a cluster with its history. Deployed objects stay in the cluster. */
  async delete(nameOrId: string, options: CallOptions = {}): Promise<void> {
    await this.of(nameOrId).delete(options);
  }

  /** Returns a handle for a cluster without checking that it exists. */
  of(nameOrId: string): Cluster {
    return new Cluster(this.#scope, nameOrId);
  }
}
