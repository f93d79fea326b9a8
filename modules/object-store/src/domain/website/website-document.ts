/** The document `website` of a bucket: its S3 website configuration. */
export interface WebsiteDocument {
  /** Name of the index object in each folder. Absent if everything is redirected. */
  index?: string;
  /** Key of the error page. */
  error?: string;
  /** Redirects every request there, keeping its path. */
  redirectAllTo?: WebsiteTarget;
  /** The first match applies. */
  routingRules?: readonly RoutingRule[];
}

export interface WebsiteTarget {
  hostName: string;
  /** Defaults to the request's protocol. */
  protocol?: 'http' | 'https';
}

export interface RoutingRule {
  /** If absent, any key matches. */
  keyPrefix?: string;
  /** Applies to responses that would have this status. If absent, applies to every request, before any lookup. */
  errorCode?: number;
  redirect: Partial<WebsiteTarget> & {
    /** Defaults to 301. */
    status?: number;
    /** Replaces `keyPrefix`. */
    keyPrefix?: string;
    /** Replaces the whole key. */
    key?: string;
  };
}

export function parseWebsiteDocument(document: string): WebsiteDocument {
  return JSON.parse(document) as WebsiteDocument; // validated before it was stored
}

/** The rule for a requested key. `errorCode` is null before any lookup. */
export function ruleFor(document: WebsiteDocument, key: string, errorCode: number | null): RoutingRule | null {
  const fits = (rule: RoutingRule): boolean =>
    (rule.errorCode ?? null) === errorCode && key.startsWith(rule.keyPrefix ?? '');
  return document.routingRules?.find(fits) ?? null;
}

/** The key after the rule's replacements. */
export function redirectedKey({ keyPrefix = '', redirect }: RoutingRule, key: string): string {
  if (redirect.key !== undefined) return redirect.key;
  return redirect.keyPrefix === undefined ? key : redirect.keyPrefix + key.slice(keyPrefix.length);
}
