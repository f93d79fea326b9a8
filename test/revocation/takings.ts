import { done, type CredentialKind } from '@svc/platform/testing';
import type { Channel } from './channel.ts';
import { AGENT_CHANNELS, CLUSTER_CHANNELS } from './cluster-channels.ts';
import { PORT, type Place } from './place.ts';
import { PORT_CHANNELS } from './port-channels.ts';
import { SANDBOX_CHANNELS } from './sandbox-channels.ts';
import { presigningKeyOf, STORE_CHANNELS } from './store-channels.ts';

type Channels = Readonly<Record<string, Pick<Channel, 'open'>>>;

/** A change that ends channels, whoever opened them with whichever credential of the API. */
export interface Taking {
  /** What ends. Everything else that was opened stays open. */
  readonly ends: Channels;
  readonly stays?: Channels;
  take(place: Place): Promise<unknown>;
}

/** Callers of these tests are users, who have all channels. */
export const KIND: CredentialKind = 'JWT';

function pick(channels: Channels, pattern: RegExp): Channels {
  return Object.fromEntries(Object.entries(channels).filter(([name]) => pattern.test(name)));
}

/** The reverse of `pick`. */
function omit(channels: Channels, pattern: RegExp): Channels {
  return Object.fromEntries(Object.entries(channels).filter(([name]) => !pattern.test(name)));
}

function change(place: Place, method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  return done(place.platform, method, `${path}${place.scope}`, place.caller.headers, body);
}

async function deleteAccessKeys(place: Place): Promise<void> {
  const { data } = await change(place, 'GET', `${place.store}/keys`);
  const { keys } = data as { keys: { accessKeyId: string }[] }; // the shape is tested in the object store
  for (const { accessKeyId } of keys) await change(place, 'DELETE', `${place.store}/keys`, { accessKeyId });
}

async function deleteSshKeys(place: Place): Promise<void> {
  const { ssh_keys: keys } = await change(place, 'GET', '/api/ssh-keys');
  for (const { id } of keys as { id: string }[]) await change(place, 'DELETE', `/api/ssh-keys/${id}`); // as above
}

/** Ways that concern what is not a credential of the API, or what a channel leads to. */
export const TAKINGS: Readonly<Record<string, Taking>> = {
  'an SSH key is deleted': {
    ends: pick(SANDBOX_CHANNELS, /SSH by a key/),
    stays: pick(SANDBOX_CHANNELS, /over SSH$|SFTP/),
    take: deleteSshKeys,
  },
  'an access key is deleted': {
    ends: pick(STORE_CHANNELS, /access key/),
    stays: omit(STORE_CHANNELS, /access key/),
    take: deleteAccessKeys,
  },
  'the key of presigned URLs is deleted': {
    ends: pick(STORE_CHANNELS, /presigned/),
    stays: omit(STORE_CHANNELS, /presigned/),
    take: async (place) => {
      const accessKeyId = await presigningKeyOf(place);
      return change(place, 'DELETE', `${place.store}/keys`, { accessKeyId });
    },
  },
  'the links to a port are revoked': {
    ends: pick(PORT_CHANNELS, /by a link/),
    stays: omit(PORT_CHANNELS, /by a link/),
    take: (place) => change(place, 'DELETE', `/api/containers/${place.sandbox}/ports/${PORT}`),
  },
  'the ports of a sandbox become private': {
    ends: pick(PORT_CHANNELS, /public/),
    stays: omit(PORT_CHANNELS, /public/),
    take: (place) => change(place, 'DELETE', `/api/containers/${place.publicSandbox}/ports`),
  },
  'a sandbox is deleted': {
    ends: { ...omit(SANDBOX_CHANNELS, /event stream|mounted|upload/), ...omit(PORT_CHANNELS, /public/) },
    stays: { ...pick(SANDBOX_CHANNELS, /event stream/), ...pick(PORT_CHANNELS, /public/) },
    take: (place) => change(place, 'DELETE', `/api/containers/${place.sandbox}`),
  },
  'a bucket is deleted': {
    ends: pick(SANDBOX_CHANNELS, /mounted/),
    take: (place) => change(place, 'DELETE', `${place.store}/buckets/${place.bucket}`),
  },
  'a cluster is deleted': {
    ends: { ...omit(CLUSTER_CHANNELS, /^events/), ...AGENT_CHANNELS },
    take: (place) => change(place, 'DELETE', `/v1/clusters/${place.cluster.id}`),
  },
  "an agent's token is replaced": {
    ends: AGENT_CHANNELS,
    take: (place) => change(place, 'POST', `/v1/clusters/${place.cluster.id}/token`, {}),
  },
};
