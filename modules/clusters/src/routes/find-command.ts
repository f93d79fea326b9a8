import type { FastifyRequest } from 'fastify';
import type { Cluster } from '../domain/cluster.ts';
import type { Command } from '../domain/command.ts';
import { clusterErrors } from '../errors.ts';
import { findCluster, type RouteContext } from './context.ts';

/** Throws `COMMAND_NOT_FOUND`. */
export async function findCommand(
  context: RouteContext,
  request: FastifyRequest,
  id: string,
): Promise<{ cluster: Cluster; command: Command }> {
  const cluster = await findCluster(context, request);
  const command = await context.commands.find(cluster.id, id);
  if (command === undefined) throw commandNotFound(id);
  return { cluster, command };
}

export function commandNotFound(id: string): Error {
  return clusterErrors.COMMAND_NOT_FOUND({ details: { field: 'id', id } });
}
