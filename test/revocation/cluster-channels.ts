import { connectAgent } from '@svc/clusters/testing';
import { done, type CredentialKind } from '@svc/platform/testing';
import { dialMux, MuxSession } from '@svc/mux';
import type { Channel } from './channel.ts';
import { closed, openSocket, openStream, openUpgrade, type Open } from './open-channel.ts';
import type { Place } from './place.ts';

const WATCH = '/api/v1/watch';

function headersOf({ caller }: Place): Record<string, string> {
  return { ...caller.headers, ...(caller.team === null ? {} : { 'x-team-uuid': caller.team }) };
}

const tunnelOf = ({ platform, cluster }: Place): string =>
  `${platform.url}/v1/clusters/${cluster.id}/tunnel/kubernetes`;

/** The host of the service, and the cookie that a link was exchanged for. */
async function byLink({ platform, caller, cluster, scope }: Place): Promise<{ url: string; cookie: string }> {
  const path = `/v1/clusters/${cluster.id}/tunnel-links${scope}`;
  const { url } = await done(platform, 'POST', path, caller.headers, { service: 'web' });
  const link = new URL(String(url));
  const answer = await platform.call('GET', `${link.pathname}${link.search}`, { host: link.host });
  const cookie = answer.headers['set-cookie']?.[0]?.split(';', 1)[0] ?? '';
  return { url: `http://${link.hostname}:${new URL(platform.url).port}`, cookie };
}

async function openForward(place: Place): Promise<Open> {
  const { transport } = await dialMux({
    url: new URL(`${place.platform.url}/v1/clusters/${place.cluster.id}/forward/web`),
    headers: headersOf(place),
    timeoutMs: 30_000,
    signal: new AbortController().signal,
  });
  const session = new MuxSession(transport, { role: 'client', onStream: (stream) => stream.reset(300) });
  return { ended: session.closed, close: () => session.close() };
}

const notByCookie = (kind: CredentialKind): string | null =>
  kind === 'session cookie' ? 'only links give browsers access to a tunnel, on hosts of their own' : null;

export const CLUSTER_CHANNELS: Readonly<Record<string, Channel>> = {
  'events of a cluster': {
    open: ({ platform, caller, cluster, scope }) => {
      const headers = { ...caller.headers, accept: 'text/event-stream' };
      return openStream(`${platform.url}/v1/clusters/${cluster.id}/events${scope}`, { headers });
    },
  },
  'a request through a tunnel': {
    through: 'modules/clusters/src/routes/tunnel/tunnel-front.ts',
    refuses: notByCookie,
    open: (place) => openStream(`${tunnelOf(place)}${WATCH}`, { headers: headersOf(place) }),
  },
  'an upgrade through a tunnel': {
    through: 'tunnel',
    refuses: notByCookie,
    open: (place) => openSocket(`${tunnelOf(place)}/exec`, headersOf(place)),
  },
  'a request through a tunnel by a link': {
    open: async (place) => {
      const { url, cookie } = await byLink(place);
      return openStream(`${url}${WATCH}`, { headers: { cookie } });
    },
  },
  'an upgrade through a tunnel by a link': {
    open: async (place) => {
      const { url, cookie } = await byLink(place);
      return openUpgrade(`${url}/exec`, { cookie });
    },
  },
  'a shell in a cluster': {
    through: 'shell',
    open: ({ platform, caller, cluster, scope }) => {
      const path = `/v1/clusters/${cluster.id}/shell${scope}&namespace=shop&pod=web-1`;
      return openSocket(`${platform.url}${path}`, caller.headers);
    },
  },
  'a forward from a cluster': { through: 'forward', refuses: notByCookie, open: openForward },
};

/** Of the cluster's agent, whose token is a credential of its own. */
export const AGENT_CHANNELS: Readonly<Record<string, Pick<Channel, 'open' | 'through'>>> = {
  'the channel of an agent': {
    through: 'agent channel',
    open: async ({ platform, cluster: { id: clusterId, token } }) => {
      const { socket } = await connectAgent({ port: Number(new URL(platform.url).port), token, clusterId });
      return { ended: closed(socket), close: () => socket.terminate() };
    },
  },
  'the tunnel of an agent': {
    through: 'agent tunnel',
    open: async ({ tunnel: { session } }) => ({ ended: session.closed, close: () => session.close() }),
  },
};
