import { grantOf, type Owned } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import { NEW_SANDBOX, sourceId, type SandboxSource } from '../domain/source-nodes.ts';

/** The node that creates a sandbox or a volume, from a source or empty. */
export function newSandbox(request: FastifyRequest, source: SandboxSource | null): Owned {
  return { kind: NEW_SANDBOX, id: sourceId(source), workspaceUuid: grantOf(request).workspaceUuid };
}
