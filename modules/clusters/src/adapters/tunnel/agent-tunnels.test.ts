import { duplexPair } from 'node:stream';
import { duplexTransport, MuxSession } from '@svc/mux';
import { TUNNEL_CLOSE_CODES } from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import { AgentTunnel } from './agent-tunnel.ts';
import { AgentTunnels } from './agent-tunnels.ts';

function openTunnel(clusterId: string, epoch: number): { tunnel: AgentTunnel; agent: MuxSession } {
  const [left, right] = duplexPair();
  const agent = new MuxSession(duplexTransport(left), { role: 'client' });
  const session = new MuxSession(duplexTransport(right), { role: 'server' });
  return { tunnel: new AgentTunnel({ session, clusterId, epoch, tokenHash: 'hash' }), agent };
}

describe('renewing the leases of tunnels', () => {
  it('closes those that another replica holds or whose cluster is gone, and keeps one that opens meanwhile', async () => {
    const tunnels = new AgentTunnels();
    const [kept, moved, removed, opened] = ['kept', 'moved', 'removed', 'opened'].map((id) => openTunnel(id, 1));
    if (kept === undefined || moved === undefined || removed === undefined || opened === undefined) throw new Error();
    for (const { tunnel } of [kept, moved, removed]) tunnels.add(tunnel);
    await tunnels.keepRenewed(
      async () => {
        tunnels.add(opened.tunnel);
        return new Map([
          ['kept', 1],
          ['moved', 2],
        ]);
      },
      async (clusterId) => clusterId !== 'removed',
    );
    expect(await moved.agent.closed).toMatchObject({ resetCode: TUNNEL_CLOSE_CODES.replaced });
    expect(await removed.agent.closed).toMatchObject({ resetCode: TUNNEL_CLOSE_CODES.forbidden });
    expect([tunnels.find('kept'), tunnels.find('opened')]).toEqual([kept.tunnel, opened.tunnel]);
    for (const { agent } of [kept, opened]) agent.close();
  });

  it('asks for nothing without tunnels', async () => {
    const refuse = (): Promise<never> => Promise.reject(new Error('asked'));
    await new AgentTunnels().keepRenewed(refuse, refuse);
  });
});
