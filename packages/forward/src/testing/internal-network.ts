import { createSecretKey, randomBytes } from 'node:crypto';
import type { Listener, ListenerLimits, ListenerOptions, OwnerFinders } from '@svc/http';
import { createTestAuthority } from '@svc/testing';
import { Forwarder } from '../forwarder.ts';
import { createInternalListener } from '../internal-listener.ts';
import type { Peer } from '../peer-agent.ts';
import { replicaUri } from '../peer-identity.ts';

/** The internal network of several replicas in one process, with real TLS. */
export interface InternalNetwork {
  join(replica: string): Promise<NetworkMember>;
}

/** A replica in an internal network. */
export interface NetworkMember {
  readonly forwarder: Forwarder;
  /** Opens the internal listener of this replica, whose modules find owners like this. */
  open(served: Required<Pick<ListenerOptions, 'handler' | 'onUpgrade'>>, finders: OwnerFinders): Promise<void>;
  close(): Promise<void>;
}

/** Creates a network without replicas. `limits`: of the listener of each. */
export async function createInternalNetwork(limits: Partial<ListenerLimits> = {}): Promise<InternalNetwork> {
  const authority = await createTestAuthority();
  const hopKey = createSecretKey(randomBytes(32));
  const peers = new Map<string, Peer>();
  return {
    join: async (replica) => {
      const identity = {
        ca: [authority.ca],
        ...(await authority.issue(replicaUri(replica))),
        hopKey,
        hopKeys: [hopKey],
      };
      let finders: OwnerFinders = {};
      const forwarder = new Forwarder({
        self: replica,
        identity,
        owners: {
          find: async ({ kind, id, workspaceUuid }) => {
            const holder = (await finders[kind]?.(id, workspaceUuid)) ?? null;
            if (holder === replica) return 'here';
            return peers.get(holder ?? '') ?? 'none';
          },
        },
        livePeers: async () => [...peers.values()],
        nowMs: Date.now,
        shareOf: (workspaceUuid) => workspaceUuid,
        onError: (error) => {
          throw error;
        },
      });
      let listener: Listener | undefined;
      return {
        forwarder,
        open: async (served, own) => {
          finders = own;
          listener = createInternalListener({ ...served, limits, identity, forwarder });
          const port = await listener.listen(0, '127.0.0.1');
          peers.set(replica, { replica, bootId: replica, url: `https://127.0.0.1:${port}` });
        },
        close: async () => {
          peers.delete(replica);
          await listener?.close(0);
          await forwarder.close();
        },
      };
    },
  };
}
