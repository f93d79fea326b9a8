import { createDisabledModule, serviceStateFields, type ServiceModule } from '@svc/http';
import { Type, type Static } from 'typebox';

/** A workspace's clusters in the overview. */
export const clustersStateSchema = Type.Object({
  ...serviceStateFields,
  total: Type.Integer(),
  connected: Type.Integer(),
  pending: Type.Integer({ description: 'Clusters whose agent has never connected' }),
});

export type ClustersState = Static<typeof clustersStateSchema>;

/** The module if `services` in the configuration does not name it. */
export function createDisabledClustersModule(reason: string): ServiceModule<ClustersState> {
  return createDisabledModule<ClustersState>({ total: 0, connected: 0, pending: 0 }, reason);
}
