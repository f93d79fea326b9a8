import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** The resource that the route created, as `kind/id`, for the audit log. */
    createdResource: string;
  }
}

/** `auditResource` of routes that create a resource, which the path does not name yet. */
export function createdResource(kind: string): (request: FastifyRequest) => string {
  return (request) => (request.createdResource === '' ? kind : request.createdResource);
}

/** `auditResource` of routes whose path names the resource: `kind/` and the parameters. */
export function namedResource(kind: string): (request: FastifyRequest) => string {
  return (request) => {
    const params: unknown = request.params;
    const values = typeof params === 'object' && params !== null ? Object.values(params) : [];
    return [kind, ...values.map(String)].join('/');
  };
}
