import { lookup } from 'node:dns';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { publicAddresses, type PublicAddresses } from '@svc/addresses';
import { isAppError } from '@svc/errors';
import { storeErrors } from '../../errors.ts';
import type { Webhook, WebhookSender } from '../../domain/ports/notifications.ts';

export interface WebhookSenderOptions {
  /** Networks beside the public ones that may be reached, as CIDR. */
  allowedNetworks: readonly string[];
  /** For the whole exchange. */
  timeoutMs: number;
}

/** Of an answer, which nobody reads: more ends the connection. */
const MOST_ANSWER_BYTES = 64 * 1024;

export function createWebhookSender({ allowedNetworks, timeoutMs }: WebhookSenderOptions): WebhookSender {
  const targets = publicAddresses(allowedNetworks);
  return {
    objection: (url) => objectionTo(url, targets),
    send: async (webhook, signal) => {
      const objection = objectionTo(webhook.url, targets);
      if (objection !== null) throw refused(objection);
      const ends = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      try {
        return await exchange(webhook, targets, ends);
      } catch (error) {
        if (isAppError(error)) throw error;
        throw refused(ends.aborted ? 'no answer in time' : codeOf(error), error);
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

function exchange({ url: text, headers, body }: Webhook, targets: PublicAddresses, signal: AbortSignal) {
  const url = new URL(text);
  const settings: RequestOptions = {
    method: 'POST',
    agent: false, // a connection of its own: the next one asks for the address again
    signal,
    lookup: checkedLookup(targets),
    headers: { 'user-agent': 'svc', ...headers, 'content-length': Buffer.byteLength(body) },
  };
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise<{ status: number }>((resolve, reject) => {
    const outgoing = request(url, settings, (response) => {
      const status = response.statusCode ?? 0;
      drain(response).then(() => {
        if (status >= 200 && status <= 299) resolve({ status });
        else reject(refused(`HTTP ${status}`));
      }, reject);
    });
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}

/** Only addresses that may be reached come out of it; a name that leads to others as well is used for those that may. */
function checkedLookup(targets: PublicAddresses): LookupFunction {
  return (hostname, options, done) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return done(error, '', 0);
      const usable = addresses.filter(({ address }) => targets.allows(address));
      const [first] = usable;
      if (first === undefined) return done(refused(NOT_PUBLIC), '', 0);
      if (options.all === true) done(null, usable);
      else done(null, first.address, first.family);
    });
  };
}

/** Reads to the end, so that a receiver that answers at length is not cut off, within reason. */
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

function refused(reason: string, cause?: unknown): Error {
  return storeErrors.WebhookRefused({ details: { reason }, ...(cause === undefined ? {} : { cause }) });
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown }; // a foreign error, only shown
  return typeof code === 'string' ? code : 'the connection failed';
}
