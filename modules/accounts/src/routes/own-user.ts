import type { Principal } from '@svc/access';
import type { FastifyRequest } from 'fastify';

/** Audit resource of actions on the caller's own account. */
export function ownUser({ principal }: FastifyRequest): string {
  return `user/${principal?.id ?? ''}`;
}

/** Only these two credentials belong to a session. */
export function sessionIdOf({ credential, credentialId }: Principal): string | null {
  return credential === 'session' || credential === 'jwt' ? credentialId : null;
}
