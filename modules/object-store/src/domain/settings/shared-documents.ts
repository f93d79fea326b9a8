/**
 * The documents that the settings show together with their own and that S3 operations write too. Only as much of their
 * shape as is needed here.
 */
export interface CorsDocument {
  rules: readonly CorsRule[];
}

/** What a rule may allow; `OPTIONS` is the question itself (API reference, PutBucketCors). */
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
  return JSON.parse(document) as CorsDocument; // checked by a schema before it was stored
}
