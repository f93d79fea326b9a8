import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AgentTunnel } from '@svc/clusters/testing/agent-tunnel';
import { createMuxAcceptor, MuxSession } from '@svc/mux';
import { TUNNEL_PATH } from '@svc/protocol';

export interface TunnelListener extends AsyncDisposable {
  readonly url: string;
  /** The tunnel of the agent that dialled last; waits for the first one. */
  tunnel(): Promise<AgentTunnel>;
}

/** The part of a platform that agents dial for tunnels. Refuses everything else. */
export async function listenForTunnels(): Promise<TunnelListener> {
  const acceptor = createMuxAcceptor();
  const sessions = new Set<MuxSession>();
  const first = Promise.withResolvers<void>();
  let latest: AgentTunnel | null = null;
  const server = createServer((_request, response) => void response.writeHead(404).end());
  server.on('upgrade', (request, socket, head) => {
    const isTunnel = request.url?.startsWith(TUNNEL_PATH) === true && acceptor.wants(request);
    const transport = isTunnel ? acceptor.accept({ request, socket, head }) : null;
    if (transport === null) return void socket.destroy();
    const session = new MuxSession(transport, { role: 'server', limits: { maxIncomingStreams: 0 } });
    sessions.add(session);
    latest = new AgentTunnel({ session, clusterId: 'cls-test', epoch: sessions.size, tokenHash: '' });
    first.resolve();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP listener
  return {
    url: `http://127.0.0.1:${port}`,
    tunnel: async () => {
      await first.promise;
      if (latest === null) throw new Error('no tunnel');
      return latest;
    },
    [Symbol.asyncDispose]: async () => {
      for (const session of sessions) session.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
