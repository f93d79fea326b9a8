import type { StoreServices } from '../domain/services.ts';

/** What the management routes are made of. */
export interface ManagementParts {
  services: StoreServices;
  /** Base URL of the S3 plane, as clients reach it. */
  s3Endpoint: () => string;
}

/** Shown wherever the contract wants a region. */
export const REGION = 'auto';
