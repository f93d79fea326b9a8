import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { BlockMemory } from '@svc/bytes';
import { toAppError } from '@svc/errors';
import { renderNestedError, type UpgradeRequest, type UpgradeRoute } from '@svc/http';
import { createMuxAcceptor, joinStreams, MUX_CODES, MuxError, MuxSession, type MuxStream } from '@svc/mux';
import { isServiceName, TUNNEL_CLOSE_CODES, TUNNEL_STREAM_CODES } from '@svc/protocol';
import type { Clock } from '@svc/runtime';
import { clusterErrors } from '../../errors.ts';
import type { AgentTunnels } from '../../adapters/tunnel/agent-tunnels.ts';
import { ownedTunnel } from '../owned.ts';
import type { TunnelAccess } from './tunnel-access.ts';
import { offlineError } from '../../adapters/tunnel/tunnel-errors.ts';
import type { TunnelStore } from '../../domain/tunnel.ts';

export interface ForwardRouteOptions {
  tunnels: AgentTunnels;
  access: TunnelAccess;
  store: TunnelStore;
  clock: Clock;
  maxStreams: number;
  memory: BlockMemory;
}

const PATH = /^\/v1\/clusters\/([^/;]{1,128})(?:;team=([0-9a-f-]{36}))?\/forward\/([^/]+)$/i;

/**
 * `GET /v1/clusters/{cluster}/forward/{service}`: a session in which each stream is one raw connection to the service.
 * Each direction ends independently, and a reset is passed through, as on a TCP connection.
 */
export function createForwardRoute(options: ForwardRouteOptions): UpgradeRoute {
  const { tunnels, access, maxStreams } = options;
  const acceptor = createMuxAcceptor();
  const sessions = new Set<MuxSession>();
  return {
    name: 'forward',
    hold: 'required',
    forwards: true,
    matches: (_request, url) => PATH.test(url.pathname),
    render: renderNestedError,
    drain: async () => {
      await Promise.all([...sessions].map((session) => session.drain(1000)));
    },
    handle: async (upgrade) => {
      const asked = parseAsked(upgrade);
      if (!acceptor.wants(upgrade.request)) {
        const reason = 'svc-mux/1, or a WebSocket with the subprotocol svc-mux.1, is required';
        throw clusterErrors.INVALID_REQUEST({ details: { field: 'Upgrade', reason } });
      }
      const caller = await access.authorize(upgrade.request, asked, upgrade.client);
      const held = upgrade.hold(caller.right);
      const { cluster } = caller;
      if (await upgrade.forward(ownedTunnel(cluster), caller.granted)) return;
      if (tunnels.find(cluster.id) === undefined) throw await offlineError(options, cluster.id, cluster.name);
      const transport = acceptor.accept(upgrade);
      if (transport === null) return;
      if (upgrade.socket instanceof Socket) upgrade.socket.setTimeout(0); // the session checks liveness itself
      const session = new MuxSession(transport, {
        role: 'server',
        memory: options.memory,
        limits: { maxIncomingStreams: maxStreams, maxOutgoingStreams: 0 },
        onStream: (stream) => {
          // Authorize each connection: a session may outlive the right to it.
          connect(options, upgrade, asked, stream).catch((error: unknown) => resetWith(stream, error));
        },
      });
      sessions.add(session);
      held.farewell(({ status, message }) => {
        const code = status === 401 ? TUNNEL_CLOSE_CODES.unauthorized : TUNNEL_CLOSE_CODES.forbidden;
        session.close(code, `the right to this forward was taken: ${message}`);
      });
      void session.closed.then(() => sessions.delete(session));
    },
  };
}

interface Asked {
  form: 'path';
  cluster: string;
  service: string;
  teamUuid: string | null;
}

function parseAsked({ url, request }: UpgradeRequest): Asked {
  const [, cluster = '', team, service = ''] = PATH.exec(url.pathname) ?? [];
  if (!isServiceName(service)) throw clusterErrors.FORWARD_NOT_FOUND({ details: { cluster, service: 'such service' } });
  const header = request.headers['x-team-uuid'];
  return { form: 'path', cluster, service, teamUuid: team ?? (typeof header === 'string' ? header : null) };
}

async function connect(
  { access, tunnels }: ForwardRouteOptions,
  { request, client }: UpgradeRequest,
  asked: Asked,
  stream: MuxStream,
): Promise<void> {
  const { cluster, principal, role } = await access.authorize(request, asked, client);
  const tunnel = tunnels.find(cluster.id);
  if (tunnel === undefined) throw new MuxError(TUNNEL_STREAM_CODES.unreachable, 'the agent is not connected');
  if (stream.destroyed) return;
  const onward = tunnel.open({ service: asked.service, user: `svc:user:${principal.id}`, role });
  await joinStreams(stream, onward, passReset);
}

/** Passes the agent's reason to the caller. A caller that disconnects is not an error. */
function passReset(_from: Duplex, to: Duplex, error: Error | null): void {
  if (!isMux(to)) return void to.destroy();
  if (!(error instanceof MuxError)) return to.reset(MUX_CODES.CANCELLED);
  const code = error.resetCode === MUX_CODES.CONNECTION_LOST ? TUNNEL_STREAM_CODES.unreachable : error.resetCode;
  to.reset(code, error.reason === '' ? 'the connection was cut' : error.reason);
}

function isMux(stream: Duplex): stream is MuxStream {
  return 'reset' in stream;
}

function resetWith(stream: MuxStream, error: unknown): void {
  if (error instanceof MuxError) stream.reset(error.resetCode, error.reason);
  else stream.reset(MUX_CODES.REFUSED, toAppError(error).message);
}
