/**
 * The documents that the settings show together with their own and that S3 operations write too. Only as much of their
 * shape as is needed here.
 */
export interface CorsDocument {
  rules: readonly CorsRule[];
}

export interface CorsRule {
  id?: string;
  allowedOrigins: readonly string[];
  allowedMethods: readonly string[];
  allowedHeaders: readonly string[];
  exposeHeaders: readonly string[];
  maxAgeSeconds: number | null;
}

export function parseCorsDocument(document: string): CorsDocument {
  return JSON.parse(document) as CorsDocument; // checked by a schema before it was stored
}
