/** Documents that the settings API shows and S3 operations also write. Declares only the properties needed here. */
export interface CorsDocument {
  rules: readonly CorsRule[];
}

/** Methods that a rule may allow. `OPTIONS` is the preflight itself (API reference, PutBucketCors). */
export const CORS_METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'HEAD'] as const;
export type CorsMethod = (typeof CORS_METHODS)[number];

export interface CorsRule {
  id?: string;
  allowedOrigins: readonly string[];
  allowedMethods: readonly CorsMethod[];
  allowedHeaders: readonly string[];
  exposeHeaders: readonly string[];
  maxAgeSeconds: number | null;
}

export function parseCorsDocument(document: string): CorsDocument {
  return JSON.parse(document) as CorsDocument; // validated by a schema before it was stored
}
