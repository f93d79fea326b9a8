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

export interface WebsiteDocument {
  /** Absent where everything is sent elsewhere. */
  index?: string;
  error?: string;
}

export interface NotificationDocument {
  enabled: boolean;
  webhook: string;
  events: readonly string[];
  prefix: string;
  suffix: string;
}

export function parseCorsDocument(document: string): CorsDocument {
  return JSON.parse(document) as CorsDocument; // checked by a schema before it was stored
}

export function parseWebsiteDocument(document: string): WebsiteDocument {
  return JSON.parse(document) as WebsiteDocument; // likewise
}

export function parseNotificationDocument(document: string): NotificationDocument {
  return JSON.parse(document) as NotificationDocument; // likewise
}
