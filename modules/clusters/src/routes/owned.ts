import { grantOf, type Owned } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import type { Cluster } from '../domain/cluster.ts';

/** The replica with the agent's connection has this: it alone relays output and input of commands. */
export const AGENT = 'agent';
/** The replica with the agent's tunnel has this. */
export const TUNNEL = 'tunnel';

/** For `config.owned` of a route below `/v1/clusters/:cluster`. */
export function ownedByHolder(kind: typeof AGENT | typeof TUNNEL): (request: FastifyRequest) => Owned {
  return (request) => {
    const { cluster } = request.params as { cluster: string }; // the route's path has it
    return { kind, id: cluster, workspaceUuid: grantOf(request).workspaceUuid };
  };
}

/** The tunnel of this cluster's agent. */
export function ownedTunnel({ id, workspaceUuid }: Pick<Cluster, 'id' | 'workspaceUuid'>): Owned {
  return { kind: TUNNEL, id, workspaceUuid };
}
