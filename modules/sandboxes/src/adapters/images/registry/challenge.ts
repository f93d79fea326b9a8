/** The authentication a registry asks for (RFC 9110 section 11.6.1, and the distribution's token specification). */
export type Challenge =
  | { readonly scheme: 'basic' }
  | {
      readonly scheme: 'bearer';
      readonly realm: string;
      readonly service: string | null;
      readonly scope: string | null;
    };

const PARAMETER = /(?<![A-Za-z_])([A-Za-z_]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g;

/** Parses a `WWW-Authenticate` header. Prefers Bearer over Basic; null if neither is offered. */
export function parseChallenge(header: string): Challenge | null {
  if (header.length > 8192) return null;
  const bearer = /(?:^|,)\s*bearer\s+(.*)$/is.exec(header)?.[1];
  if (bearer !== undefined) {
    const parameters = new Map<string, string>();
    for (const [, name = '', quoted, plain] of bearer.matchAll(PARAMETER)) {
      const key = name.toLowerCase();
      if (!parameters.has(key)) parameters.set(key, (quoted ?? plain ?? '').replace(/\\(.)/g, '$1'));
    }
    const realm = parameters.get('realm');
    if (realm !== undefined) {
      const [service = null, scope = null] = [parameters.get('service'), parameters.get('scope')];
      return { scheme: 'bearer', realm, service, scope };
    }
  }
  return /(?:^|,)\s*basic\b/i.test(header) ? { scheme: 'basic' } : null;
}
