import type { FindOwner, OwnerFinders } from '@svc/http';
import { AGENT, TUNNEL } from '../routes/owned.ts';
import type { Foundation } from './assembly.ts';

/** Finds the replicas with the agent's connection and with its tunnel, by the leases that they renew. */
export function createOwnerFinders({ dependencies, stores, connections, tunnels }: Foundation): OwnerFinders {
  const { clock, replicaId } = dependencies;
  const { clusters, connectionStore, tunnelStore } = stores;
  const finder =
    (isHere: (clusterId: string) => boolean, holder: (clusterId: string, now: string) => Promise<string | null>) =>
    async (...[nameOrId, workspaceUuid]: Parameters<FindOwner>): Promise<string | null> => {
      if (isHere(nameOrId)) return replicaId; // the common case needs no query
      const cluster = await clusters.find(workspaceUuid, nameOrId);
      if (cluster === undefined) return null;
      return isHere(cluster.id) ? replicaId : holder(cluster.id, clock.now().toISOString());
    };
  return {
    [AGENT]: finder(
      (id) => connections.isConnected(id),
      (id, now) => connectionStore.holder(id, now),
    ),
    [TUNNEL]: finder(
      (id) => tunnels.find(id) !== undefined,
      (id, now) => tunnelStore.holder(id, now),
    ),
  };
}
