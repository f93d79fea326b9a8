import { createDisabledModule, serviceStateFields, type ServiceModule } from '@svc/http';
import { Type, type Static } from 'typebox';
import { registerDisabledManagement } from './routes/index.ts';

/** What a workspace stores, for the overview. */
export const objectStoreStateSchema = Type.Object({
  ...serviceStateFields,
  provisioned: Type.Boolean(),
  buckets: Type.Integer(),
  objects: Type.Integer(),
  bytes: Type.Integer(),
  s3_endpoint: Type.Union([Type.String(), Type.Null()]),
});

export type ObjectStoreState = Static<typeof objectStoreStateSchema>;

/** A disabled object store has no S3 plane and no custom domains. */
export interface DisabledObjectStoreModule extends ServiceModule<ObjectStoreState> {
  readonly s3: null;
  readonly sites: null;
  readonly folders: null;
  readonly sharedReadiness: Readonly<Record<string, never>>;
  /** It does no background work. */
  workLeases(): Promise<readonly never[]>;
}

/** The module if `services` in the configuration does not name it: its routes exist and report that it is off. */
export function createDisabledObjectStoreModule(reason: string): DisabledObjectStoreModule {
  const state = { provisioned: false, buckets: 0, objects: 0, bytes: 0, s3_endpoint: null };
  return {
    ...createDisabledModule<ObjectStoreState>(state, reason),
    registerRoutes: registerDisabledManagement,
    s3: null,
    sites: null,
    folders: null,
    sharedReadiness: {},
    workLeases: async () => [],
  };
}
