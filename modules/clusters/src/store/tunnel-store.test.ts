import type { GrantedAccess } from '@svc/access';
import { migrations } from '@svc/migrations';
import { unlimitedQuotas } from '@svc/quotas';
import { describeDialects } from '@svc/testing';
import { expect, it } from 'vitest';
import { createStores, type Stores } from './stores.ts';
import type { ClusterTables } from './tables.ts';

const NOW = '2026-11-21T10:00:00.000Z';
const SOON = '2026-11-21T10:00:30.000Z';
const LATER = '2026-11-21T10:05:00.000Z';

describeDialects<ClusterTables>('the tunnel store', migrations, (database) => {
  async function withCluster(run: (stores: Stores) => Promise<void>): Promise<void> {
    const stores = createStores(database().kysely);
    const cluster = { id: 'cls-1', workspaceUuid: 'ws', name: 'production', createdAt: NOW, createdBy: 'Ada' };
    await stores.clusters.insert(cluster, 'hash', await unlimitedQuotas.readLimits('ws'));
    await run(stores);
  }

  it('numbers the tunnels of a cluster; a late end of an older one changes nothing', () =>
    withCluster(async ({ tunnelStore }) => {
      expect(await tunnelStore.holder('cls-1', NOW)).toBeNull();
      expect(await tunnelStore.open('cls-1', 'replica-1', NOW, SOON)).toBe(1);
      expect(await tunnelStore.open('cls-1', 'replica-2', NOW, SOON)).toBe(2);
      await tunnelStore.close('cls-1', 1);
      expect(await tunnelStore.holder('cls-1', NOW)).toBe('replica-2');
      await tunnelStore.close('cls-1', 2);
      expect(await tunnelStore.holder('cls-1', NOW)).toBeNull();
    }));

  it('drops a holder whose lease expired, and tells a replica which tunnels it still holds', () =>
    withCluster(async ({ tunnelStore }) => {
      const epoch = await tunnelStore.open('cls-1', 'replica-1', NOW, SOON);
      expect(await tunnelStore.holder('cls-1', LATER)).toBeNull();
      expect([...(await tunnelStore.renew('replica-1', LATER))]).toEqual([['cls-1', epoch]]);
      expect(await tunnelStore.holder('cls-1', SOON)).toBe('replica-1');
      expect([...(await tunnelStore.renew('replica-2', LATER))]).toEqual([]);
      await tunnelStore.forget('replica-1');
      expect(await tunnelStore.holder('cls-1', NOW)).toBeNull();
    }));

  it('keeps a link until it expires, and no longer than its cluster', () =>
    withCluster(async ({ tunnelStore, clusters }) => {
      const granted: GrantedAccess = {
        credential: {
          principalKind: 'user',
          principalId: 'u',
          credential: 'api_token',
          credentialId: 't',
          shownAt: NOW,
        },
        action: 'tunnel:use',
        grant: { workspaceUuid: 'ws', role: 'owner', teamUuid: null },
      };
      const link = { clusterId: 'cls-1', service: 'web', granted, expiresAt: SOON };
      await tunnelStore.addLink('hash-1', link, NOW);
      expect(await tunnelStore.findLink('hash-1', NOW)).toEqual(link);
      expect(await tunnelStore.findLink('hash-1', SOON)).toBeUndefined();
      await tunnelStore.pruneLinks(SOON);
      expect(await tunnelStore.findLink('hash-1', NOW)).toBeUndefined();
      await tunnelStore.addLink('hash-2', { ...link, expiresAt: LATER }, NOW);
      await clusters.remove('cls-1');
      expect(await tunnelStore.findLink('hash-2', NOW)).toBeUndefined();
    }));
});
