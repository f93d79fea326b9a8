import type { ServiceName } from '../service-names.ts';
import { absentService, absentStates } from './absent.ts';
import { createClustersService } from './clusters.ts';
import { createObjectStoreService, disabledObjectStore } from './object-store.ts';
import { createSandboxesService } from './sandboxes.ts';
import type { Services } from './service.ts';
import type { ServiceContext } from './service-context.ts';

/** Creates the configured services; the others are absent ones that give the reason. */
export async function createServices(context: ServiceContext): Promise<Services> {
  const wants = (name: ServiceName): boolean => context.config.services.includes(name);
  const off = 'switched off in the configuration (services)';
  return {
    clusters: wants('clusters')
      ? await createClustersService(context)
      : { ...absentService('clusters', absentStates.clusters, off), tunnels: null },
    objectStore: wants('object-store') ? await createObjectStoreService(context) : disabledObjectStore(off),
    sandboxes: wants('sandboxes')
      ? await createSandboxesService(context)
      : { ...absentService('sandboxes', absentStates.sandboxes, off), handlePreview: () => false },
  };
}
