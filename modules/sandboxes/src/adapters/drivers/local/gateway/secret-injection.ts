import type { IncomingMessage } from 'node:http';
import { endToEndHeaders, type HeaderList } from '@svc/http/relay';
import { allowsHost } from '../../../../domain/egress-hosts.ts';
import type { LiveEgressRule } from '../../../../domain/egress-rules/egress-rule.ts';

/** What to add to a request: header values by lower-case name, and query parameters by name. */
export interface Injection {
  readonly headers: ReadonlyMap<string, string>;
  readonly parameters: ReadonlyMap<string, string>;
}

/** Why a request cannot be sent on. */
export type Refusal = 'no_rule' | 'needs_https' | 'no_secret';

export function rulesFor(rules: readonly LiveEgressRule[], host: string): readonly LiveEgressRule[] {
  return rules.filter((rule) => allowsHost([rule.host], host));
}

/** Decides what is added to a request. If two rules set the same name, the one with the longer host wins. */
export function injectionFor(
  rules: readonly LiveEgressRule[],
  host: string,
  isSecure: boolean,
): Injection | { readonly refusal: Refusal } {
  const matching = rulesFor(rules, host);
  if (matching.length === 0) return { refusal: 'no_rule' };
  const usable = matching.filter((rule) => isSecure || rule.insecure);
  if (usable.length === 0) return { refusal: 'needs_https' };
  const headers = new Map<string, string>();
  const parameters = new Map<string, string>();
  for (const { header, query, content } of usable.toSorted((one, other) => one.host.length - other.host.length)) {
    if (content === null) return { refusal: 'no_secret' };
    if (header !== null) headers.set(header, content);
    if (query !== null) parameters.set(query, content);
  }
  return { headers, parameters };
}

/** Identifies what is added for a host, so that a change of it is noticed. */
export function fingerprint(rules: readonly LiveEgressRule[], host: string): string {
  return JSON.stringify(rulesFor(rules, host).map((rule) => [rule.header, rule.query, rule.insecure, rule.content]));
}

/** End-to-end headers of the request, with those that the injection sets, and for this host. */
export function requestHeaders(request: IncomingMessage, host: string, { headers }: Injection): HeaderList {
  const kept = endToEndHeaders(request, (name) => name === 'host' || name === 'http2-settings' || headers.has(name));
  return ['Host', host, ...kept, ...[...headers].flat()];
}

/** Removes what offers the host by other protocols, which bypass the gateway. */
export function offersHere(headers: HeaderList): HeaderList {
  return headers.filter((_text, at) => headers[at - (at % 2)]?.toLowerCase() !== 'alt-svc');
}

/** Sets the parameters of a path with an optional query; leaves the rest of it byte for byte. */
export function requestPath(path: string, { parameters }: Injection): string {
  if (parameters.size === 0) return path;
  const start = path.indexOf('?');
  const pairs = start === -1 ? [] : path.slice(start + 1).split('&');
  const kept = pairs.filter((pair) => pair !== '' && !parameters.has(parameterName(pair)));
  const added = [...parameters].map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return `${start === -1 ? path : path.slice(0, start)}?${[...kept, ...added].join('&')}`;
}

function parameterName(pair: string): string {
  const name = (pair.split('=', 1)[0] ?? '').replaceAll('+', ' ');
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // not valid: no server reads it as another name
  }
}
