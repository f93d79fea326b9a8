import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { createNameResolver, publicAddresses, type NameResolver, type PublicAddresses } from '@svc/addresses';
import { failUnanswered } from '@svc/runtime';

/** A request to a receiver. */
export interface Webhook {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/**
 * Delivers an event to its receiver. Throws `WebhookFailure` with the reason unless the receiver responds with 2xx in
 * time.
 */
export interface WebhookSender {
  send(webhook: Webhook, signal: AbortSignal): Promise<{ status: number }>;
  /** Why nothing can be sent to this URL. Null if the URL is acceptable. */
  objection(url: string): string | null;
}

/** A webhook was not delivered. The message is the reason, such as `HTTP 503`, and may be shown to users. */
export class WebhookFailure extends Error {
  /** The status of the response; null without one. */
  readonly status: number | null;

  constructor(reason: string, options: { readonly status?: number; readonly cause?: unknown } = {}) {
    super(reason, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'WebhookFailure';
    this.status = options.status ?? null;
  }
}

/** Where webhooks may go, and how long each may take. */
export interface WebhookSenderOptions {
  /** Reachable networks in addition to public ones, as CIDR. */
  allowedNetworks: readonly string[];
  /** Timeout of the whole exchange. */
  timeoutMs: number;
  /** Resolves receivers. Defaults to the hosts file and name servers of the system. */
  resolver?: Pick<NameResolver, 'hostAddresses'>;
}

/** Limit on the response, which is discarded; a longer one ends the connection. */
const MOST_ANSWER_BYTES = 64 * 1024;

/** Creates a sender that connects only to public addresses and the allowed networks, checked when it connects. */
export function createWebhookSender({
  allowedNetworks,
  timeoutMs,
  resolver = createNameResolver(),
}: WebhookSenderOptions): WebhookSender {
  const targets = publicAddresses(allowedNetworks);
  const lookup = checkedLookup(resolver, targets);
  return {
    objection: (url) => objectionTo(url, targets),
    send: async (webhook, signal) => {
      const objection = objectionTo(webhook.url, targets);
      if (objection !== null) throw new WebhookFailure(objection);
      const ends = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      try {
        return await exchange(webhook, lookup, ends);
      } catch (error) {
        if (error instanceof WebhookFailure) throw error;
        throw new WebhookFailure(ends.aborted ? 'no answer in time' : codeOf(error), { cause: error });
      }
    },
  };
}

function objectionTo(text: string, targets: PublicAddresses): string | null {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return 'the webhook must be a URL that begins with https://';
  if (url.username !== '' || url.password !== '') return 'the webhook must not carry a user name or a password';
  if (url.hash !== '') return 'the webhook must not have a fragment';
  const host = hostOf(url);
  return isIP(host) !== 0 && !targets.allows(host) ? NOT_PUBLIC : null;
}

const NOT_PUBLIC = 'the webhook leads to an address that is not public';

function exchange({ url: text, headers, body }: Webhook, lookup: LookupFunction, signal: AbortSignal) {
  const url = new URL(text);
  const settings: RequestOptions = {
    method: 'POST',
    agent: false, // a new connection each time, so the address is checked again
    signal,
    lookup,
    headers: { 'user-agent': 'svc', ...headers, 'content-length': Buffer.byteLength(body) },
  };
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise<{ status: number }>((resolve, reject) => {
    const outgoing = request(url, settings, (response) => {
      const status = response.statusCode ?? 0;
      drain(response).then(() => {
        if (status >= 200 && status <= 299) resolve({ status });
        else reject(new WebhookFailure(`HTTP ${status}`, { status }));
      }, reject);
    });
    failUnanswered(outgoing);
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

/**
 * Resolves only to allowed addresses; a name with both kinds keeps its allowed ones. The connection is made to what this
 * returns, so a later answer of the name server changes nothing.
 */
function checkedLookup(resolver: Pick<NameResolver, 'hostAddresses'>, targets: PublicAddresses): LookupFunction {
  return (hostname, options, reply) => {
    usableAddresses(resolver, targets, hostname).then(
      ([first, ...others]) => {
        if (options.all === true) reply(null, [first, ...others]);
        else reply(null, first.address, first.family);
      },
      (error: Error) => reply(error, '', 0),
    );
  };
}

interface HostAddress {
  readonly address: string;
  readonly family: number;
}

/** Throws `WebhookFailure` if there are none. */
async function usableAddresses(
  resolver: Pick<NameResolver, 'hostAddresses'>,
  targets: PublicAddresses,
  host: string,
): Promise<[HostAddress, ...HostAddress[]]> {
  const found = await resolver.hostAddresses(host).catch((cause: unknown) => {
    throw new WebhookFailure(`the name servers did not answer for ${host} (${codeOf(cause)})`, { cause });
  });
  if (found.length === 0) throw new WebhookFailure(`the host ${host} does not exist`);
  const [first, ...others] = found
    .filter((address) => targets.allows(address))
    .map((address) => ({ address, family: isIP(address) }));
  if (first === undefined) throw new WebhookFailure(NOT_PUBLIC);
  return [first, ...others];
}

/** Drains the response up to the limit, so that a receiver with a long response is not cut off. */
async function drain(response: IncomingMessage): Promise<void> {
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MOST_ANSWER_BYTES) return; // leaving the loop destroys the connection
  }
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown }; // a foreign error; only displayed
  return typeof code === 'string' ? code : 'the connection failed';
}
