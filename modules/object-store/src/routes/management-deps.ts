import type { CustomDomains } from '../domain/custom-domains/create-custom-domains.ts';
import type { StoreServices } from '../domain/services.ts';
import type { BucketRecord } from '../domain/ports/records.ts';
import type { Cursors } from './objects/cursor.ts';
import type { PublicOrigin } from './public-origin.ts';

/** Dependencies of the management routes. */
export interface ManagementDeps {
  services: StoreServices;
  domains: CustomDomains;
  /** Base URL of the S3 plane, as clients reach it. */
  s3Endpoint: () => string;
  /** Base URL of this API, as clients reach it. Defaults to the URL each caller used. */
  baseUrl?: (() => string) | undefined;
  /** Gives public objects an origin of their own. */
  publicOrigin: PublicOrigin;
  cursors: Cursors;
  /** Name of the engine that stores the bytes. */
  provider: string;
  /** Hostnames that currently serve the bucket. */
  customDomains: (bucket: Pick<BucketRecord, 'id' | 'workspaceUuid'>) => Promise<string[]>;
}

/** Reported wherever the contract has a region. */
export const REGION = 'auto';
