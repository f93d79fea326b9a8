import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the route made, as `kind/id`, once it is made; the audit log names it. */
    createdResource: string;
  }
}

/** For the `auditResource` of routes that make something: the path does not name it yet. */
export function createdResource(kind: string): (request: FastifyRequest) => string {
  return (request) => (request.createdResource === '' ? kind : request.createdResource);
}

/** For the `auditResource` of routes whose path names it: `kind/` and the parameters. */
export function namedResource(kind: string): (request: FastifyRequest) => string {
  return (request) => {
    const params: unknown = request.params;
    const values = typeof params === 'object' && params !== null ? Object.values(params) : [];
    return [kind, ...values.map(String)].join('/');
  };
}
