import type { CustomDomains } from '../domain/custom-domains/create-custom-domains.ts';
import type { StoreServices } from '../domain/services.ts';
import type { BucketRecord } from '../domain/ports/records.ts';
import type { Cursors } from './objects/cursor.ts';
import type { PublicOrigin } from './public-origin.ts';

/** What the management routes are made of. */
export interface ManagementDeps {
  services: StoreServices;
  domains: CustomDomains;
  /** Base URL of the S3 plane, as clients reach it. */
  s3Endpoint: () => string;
  /** Base URL of this API, as clients reach it; absent: as the caller of the moment did. */
  baseUrl?: (() => string) | undefined;
  /** Where public objects have an origin of their own. */
  publicOrigin: PublicOrigin;
  cursors: Cursors;
  /** The engine that holds the bytes. */
  provider: string;
  /** Host names that serve the bucket now. */
  customDomains: (bucket: Pick<BucketRecord, 'id' | 'workspaceUuid'>) => Promise<string[]>;
}

/** Shown wherever the contract wants a region. */
export const REGION = 'auto';
