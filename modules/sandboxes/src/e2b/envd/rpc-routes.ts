import { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { UniversalServerResponse } from '@connectrpc/connect/protocol';
import type { HttpApp } from '@svc/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { goneSignal } from '../../routes/request-signal.ts';
import type { ConnectHandler } from './connect-handlers.ts';
import { sandboxOf, type EnvdAdmission } from './envd-admission.ts';
import type { RpcService } from './rpc-service.ts';

export interface RpcOptions {
  /** `/e2b/envd` */
  readonly prefix: string;
  readonly admission: EnvdAdmission;
  readonly services: readonly RpcService[];
}

/**
 * Serves Connect (connectrpc.com/docs/protocol), with JSON and binary messages, over any HTTP version. The library is
 * loaded by the first call: most platforms do not need it in memory.
 */
export async function registerRpcRoutes(app: HttpApp, { prefix, admission, services }: RpcOptions): Promise<void> {
  let loaded: Promise<ReadonlyMap<string, ConnectHandler>> | null = null;
  const handlers = (): Promise<ReadonlyMap<string, ConnectHandler>> => (loaded ??= loadHandlers(services));
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    for (const { name, methods } of services) {
      for (const [method, { action, isUnaudited = false }] of Object.entries(methods)) {
        const path = `/${name}/${method}`;
        scope.post(
          `${prefix}${path}`,
          {
            config: { action, audit: !isUnaudited, grantedEarlier: admission.byToken, rawBody: true, auditResource },
            bodyLimit: Number.MAX_SAFE_INTEGER, // each message is limited
            schema: { hide: true },
          },
          async (request, reply) => serve((await handlers()).get(path), request, reply),
        );
      }
    }
  });
}

async function loadHandlers(services: readonly RpcService[]): Promise<ReadonlyMap<string, ConnectHandler>> {
  const { createConnectHandlers } = await import('./connect-handlers.ts');
  return createConnectHandlers(services);
}

function auditResource(request: FastifyRequest): string {
  return `sandbox/${request.envdSandbox?.id ?? ''}`;
}

async function serve(
  handle: ConnectHandler | undefined,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (handle === undefined) throw new Error(`${request.url} is not in the description of its service`);
  const header = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const each of Array.isArray(value) ? value : [value ?? '']) header.append(name, each);
  }
  const response: UniversalServerResponse = await handle({
    httpVersion: request.raw.httpVersion,
    method: request.method,
    host: request.headers.host ?? 'localhost',
    header,
    body: request.raw,
    signal: goneSignal(reply),
    sandbox: sandboxOf(request),
    cut: () => cut(reply),
  });
  reply.status(response.status).headers(Object.fromEntries(response.header ?? []));
  return reply.send(response.body === undefined ? '' : Readable.from(response.body, { objectMode: false }));
}

/** Resets the connection where that is possible: clients tell a reset from a server that breaks the protocol. */
function cut({ raw }: FastifyReply): void {
  const { socket } = raw;
  if (socket === null || socket instanceof TLSSocket || raw.req.httpVersionMajor !== 1) raw.destroy();
  else socket.resetAndDestroy();
}
