import { grantOf, type Owned } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import { SANDBOX_SOURCE, sourceId, type SandboxSource } from '../domain/source-nodes.ts';

/** What only the node with the source serves, if no other one can use it. */
export function ownedSource(request: FastifyRequest, source: SandboxSource): Owned {
  return { kind: SANDBOX_SOURCE, id: sourceId(source), workspaceUuid: grantOf(request).workspaceUuid };
}
