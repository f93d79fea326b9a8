import { grantedAccessOf, principalOf, type HttpApp } from '@svc/http';
import { isServiceName, KUBERNETES_SERVICE } from '@svc/protocol';
import { Type } from 'typebox';
import { timestampAfter } from '../../domain/timestamps.ts';
import { sha256, type RandomBytes } from '../../domain/identifiers.ts';
import { clusterErrors } from '../../errors.ts';
import { findCluster, type RouteContext } from '../context.ts';
import { clusterParams, scopeQuery } from '../parameters.ts';
import { clusterHost, serviceHost } from './tunnel-address.ts';
import { TUNNEL_PARAMETER } from './tunnel-cookie.ts';
import type { TunnelStore } from '../../domain/tunnel.ts';

/** URLs of the tunnels; read on each use, because ports may be known only once the listeners are open. */
export interface TunnelEndpoints {
  /** For example `http://127.0.0.1:4000`, or the URL of a proxy in front. */
  publicUrl: () => string;
  /** With TLS, for clients that send tokens only over TLS. */
  secureUrl: () => string;
  /** PEM of the authority that certified `secureUrl`; null if clients trust it already. */
  certificateAuthority: () => string | null;
}

export interface LinkRouteOptions {
  context: RouteContext;
  store: TunnelStore;
  randomBytes: RandomBytes;
  endpoints: TunnelEndpoints;
  domain: string;
}

const nullableText = Type.Union([Type.String(), Type.Null()]);
const MAX_LINK_SECONDS = 12 * 3600;

/** Routes that give browsers, kubectl and other clients access to services behind the tunnel. */
export function registerLinkRoutes(app: HttpApp, options: LinkRouteOptions): void {
  addLinkRoute(app, options);
  addEndpointRoute(app, options);
}

function addLinkRoute(app: HttpApp, { context, store, randomBytes, endpoints, domain }: LinkRouteOptions): void {
  app.post(
    '/v1/clusters/:cluster/tunnel-links',
    {
      config: { action: 'tunnel:use' },
      schema: {
        tags: ['tunnel'],
        summary: 'Create a temporary browser link to a forwarded service',
        params: clusterParams,
        querystring: Type.Object(scopeQuery),
        body: Type.Object(
          {
            service: Type.String({ maxLength: 63, description: 'Name of a service that the agent forwards' }),
            expires_in_seconds: Type.Optional(Type.Integer({ minimum: 60, maximum: MAX_LINK_SECONDS, default: 3600 })),
          },
          { additionalProperties: false },
        ),
        response: { 201: Type.Object({ url: Type.String(), expires_at: Type.String() }) },
      },
    },
    async (request, reply) => {
      const cluster = await findCluster(context, request);
      const { service, expires_in_seconds: seconds = 3600 } = request.body;
      // A page shown in a browser must not gain its visitor's rights over the cluster.
      if (!isServiceName(service) || service === KUBERNETES_SERVICE) {
        const reason = 'service must be the name of a forward; the Kubernetes API is for clients with a token';
        throw clusterErrors.INVALID_REQUEST({ details: { field: 'service', reason } });
      }
      const token = randomBytes(32).toString('base64url');
      const now = context.clock.now();
      const expiresAt = earlier(timestampAfter(now, seconds * 1000), principalOf(request).expiresAt);
      const link = { clusterId: cluster.id, service, granted: grantedAccessOf(request), expiresAt };
      await store.addLink(sha256(token), link, now.toISOString());
      const url = urlOf(endpoints.publicUrl(), serviceHost(cluster.id, service, domain));
      return reply.status(201).send({ url: `${url}/?${TUNNEL_PARAMETER}=${token}`, expires_at: expiresAt });
    },
  );
}

function addEndpointRoute(app: HttpApp, { context, endpoints, domain }: LinkRouteOptions): void {
  app.get(
    '/v1/clusters/:cluster/tunnel-endpoints',
    {
      config: { action: 'tunnel:use' },
      schema: {
        tags: ['tunnel'],
        summary: 'Get the tunnel URLs of a cluster, for programs and kubeconfigs',
        params: clusterParams,
        querystring: Type.Object(scopeQuery),
        response: {
          200: Type.Object({
            cluster_id: Type.String(),
            cluster_name: Type.String(),
            host_url: Type.String({ description: 'Base URL for programs with a token; append /{service}/<path>' }),
            kubernetes_url: Type.String({ description: 'Server URL for a kubeconfig' }),
            certificate_authority: nullableText,
          }),
        },
      },
    },
    async (request) => {
      const cluster = await findCluster(context, request);
      const team = request.query.team_uuid === undefined ? '' : `;team=${request.query.team_uuid}`;
      return {
        cluster_id: cluster.id,
        cluster_name: cluster.name,
        host_url: urlOf(endpoints.publicUrl(), clusterHost(cluster.id, domain)),
        kubernetes_url: `${endpoints.secureUrl()}/v1/clusters/${cluster.id}${team}/tunnel/${KUBERNETES_SERVICE}`,
        certificate_authority: endpoints.certificateAuthority(),
      };
    },
  );
}

/** `http://127.0.0.1:4000` and a tunnel host -> `http://tunnel-cls-abc.localhost:4000`. */
function urlOf(publicUrl: string, host: string): string {
  const { protocol, port } = new URL(publicUrl);
  return `${protocol}//${host}${port === '' ? '' : `:${port}`}`;
}

/** A credential's expiry caps the links made with it. Both are ISO 8601 UTC, so text order is time order. */
function earlier(time: string, other: string | null): string {
  return other !== null && other < time ? other : time;
}
