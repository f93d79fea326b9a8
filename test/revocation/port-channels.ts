import { done } from '@svc/platform/testing';
import type { Channel } from './channel.ts';
import { openStream, openUpgrade } from './open-channel.ts';
import { PORT, type Place } from './place.ts';

const TRAFFIC_TOKEN = 'e2b-traffic-access-token';

function urlOf({ platform }: Place, sandbox: string): string {
  const { port } = new URL(platform.url);
  return `http://${PORT}-${sandbox.slice('sbx_'.length)}.sandboxes.localhost:${port}/`;
}

async function linkOf({ platform, caller, sandbox, scope }: Place): Promise<string> {
  const { url } = await done(platform, 'POST', `/api/containers/${sandbox}/ports${scope}`, caller.headers, {
    port: PORT,
  });
  return String(url);
}

export const PORT_CHANNELS: Readonly<Record<string, Channel>> = {
  'a request to a port by a link': {
    through: 'modules/sandboxes/src/routes/preview/preview-gateway.ts',
    open: async (place) => openStream(await linkOf(place)),
  },
  'an upgrade at a port by a link': {
    through: 'preview',
    open: async (place) => openUpgrade(await linkOf(place), {}),
  },
  'a request to a public port': { open: (place) => openStream(urlOf(place, place.publicSandbox)) },
  'an upgrade at a public port': { open: (place) => openUpgrade(urlOf(place, place.publicSandbox), {}) },
  'a request to a port by a traffic token': {
    open: (place) => openStream(urlOf(place, place.sandbox), { headers: { [TRAFFIC_TOKEN]: place.tokens.traffic } }),
  },
  'an upgrade at a port by a traffic token': {
    open: (place) => openUpgrade(urlOf(place, place.sandbox), { [TRAFFIC_TOKEN]: place.tokens.traffic }),
  },
};
