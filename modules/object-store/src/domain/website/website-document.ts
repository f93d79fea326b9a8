/** The bucket's document `website`: what S3's website configuration says. */
export interface WebsiteDocument {
  /** Name below each folder; absent where everything is sent elsewhere. */
  index?: string;
  /** Key of what is shown for errors. */
  error?: string;
  /** Every request is sent there, with its path. */
  redirectAllTo?: WebsiteTarget;
  /** The first that matches holds. */
  routingRules?: readonly RoutingRule[];
}

export interface WebsiteTarget {
  hostName: string;
  /** Absent: that of the request. */
  protocol?: 'http' | 'https';
}

export interface RoutingRule {
  /** Absent where any key will do. */
  keyPrefix?: string;
  /** The rule is for answers that would have this status; absent: for every request, before anything is looked up. */
  errorCode?: number;
  redirect: Partial<WebsiteTarget> & {
    /** Default: 301. */
    status?: number;
    /** In place of `keyPrefix`. */
    keyPrefix?: string;
    /** In place of the whole key. */
    key?: string;
  };
}

export function parseWebsiteDocument(document: string): WebsiteDocument {
  return JSON.parse(document) as WebsiteDocument; // checked before it was stored
}

/** The rule for a key, as it was asked for; `errorCode` null before anything is looked up. */
export function ruleFor(document: WebsiteDocument, key: string, errorCode: number | null): RoutingRule | null {
  const fits = (rule: RoutingRule): boolean =>
    (rule.errorCode ?? null) === errorCode && key.startsWith(rule.keyPrefix ?? '');
  return document.routingRules?.find(fits) ?? null;
}

/** What of the key is left under the rule's redirect. */
export function redirectedKey({ keyPrefix = '', redirect }: RoutingRule, key: string): string {
  if (redirect.key !== undefined) return redirect.key;
  return redirect.keyPrefix === undefined ? key : redirect.keyPrefix + key.slice(keyPrefix.length);
}
