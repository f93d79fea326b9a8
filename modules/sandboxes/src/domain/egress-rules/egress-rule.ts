import { egressHost } from '../egress-hosts.ts';

/** Most rules of one sandbox. */
export const MAX_EGRESS_RULES = 20;
/** Stands for the secret's value in a template. */
const VALUE_MARK = '{value}';

/** Adds a secret to requests of a sandbox to a host, outside of the sandbox. */
export interface EgressRule {
  /** Hostname, or `*.` and a hostname for all names below it, as returned by `egressHost`. */
  readonly host: string;
  /** Name of the header to set, in lower case; null if the secret is a query parameter. */
  readonly header: string | null;
  /** Name of the query parameter to set; null if the secret is a header. */
  readonly query: string | null;
  /** Name of a secret of the sandbox's workspace. */
  readonly secret: string;
  /** Contains `{value}` once. */
  readonly template: string;
  /** Also adds it to requests over plain HTTP. */
  readonly insecure: boolean;
}

/** A rule as given by a client. */
export interface GivenEgressRule {
  readonly host: string;
  readonly header?: string | undefined;
  readonly query?: string | undefined;
  readonly secret: string;
  readonly template?: string | undefined;
  readonly insecure?: boolean | undefined;
}

/** Fields that frame a message or route it. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** What is wrong with a given rule: a field of it, and the reason. */
export interface EgressRuleFault {
  readonly field: keyof GivenEgressRule;
  readonly reason: string;
}

/** Checks and normalizes a rule, whose fields have the lengths and characters of the schema. */
export function parseEgressRule(given: GivenEgressRule): EgressRule | EgressRuleFault {
  const host = egressHost(given.host);
  if (host === null) return { field: 'host', reason: 'is not a hostname, or *. and a hostname' };
  const header = given.header?.toLowerCase() ?? null;
  const query = given.query ?? null;
  if ((header === null) === (query === null))
    return { field: 'header', reason: 'exactly one of header and query is required' };
  if (header !== null && RESERVED_HEADERS.has(header)) return { field: 'header', reason: `must not be ${header}` };
  const template = given.template ?? VALUE_MARK;
  if (template.split(VALUE_MARK).length !== 2) return { field: 'template', reason: `must contain ${VALUE_MARK} once` };
  return { host, header, query, secret: given.secret, template, insecure: given.insecure ?? false };
}

export function fillTemplate(template: string, value: string): string {
  return template.split(VALUE_MARK).join(value);
}

/** A rule with what it adds now. */
export interface LiveEgressRule extends Pick<EgressRule, 'host' | 'header' | 'query' | 'insecure'> {
  /** The filled template; null if the secret does not exist. */
  readonly content: string | null;
}

/** Everything that a driver needs to apply the rules of a sandbox. */
export interface LiveEgressRules {
  /** The sandbox's workspace, whose connections have one share. */
  readonly workspaceUuid: string;
  readonly rules: readonly LiveEgressRule[];
  readonly authority: EgressAuthority;
}

/** The certificate authority of one sandbox, in PEM. */
export interface EgressAuthority {
  readonly cert: string;
  readonly key: string;
}
