import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { httpErrors, type Forwarded, type Hop } from '@svc/http';

/** Carries the signed statement of the replica that forwards. Only the internal listener accepts it. */
export const HOP_HEADER = 'x-svc-hop';

/** How long a statement is valid, on either side of the receiver's clock. */
const LIFETIME_MS = 10_000;
const MAX_CHARACTERS = 8 * 1024;

/** Dependencies of the signature. */
export interface HopSignatureDeps {
  /** The same on every replica, and known to replicas only: one signs, several verify while it is renewed. */
  readonly keys: () => { readonly hopKey: KeyObject; readonly hopKeys: readonly KeyObject[] };
  /** This replica. */
  readonly self: string;
  /** A clock that all replicas share: theirs may differ by more than a statement lives. */
  readonly nowMs: () => number;
}

/** What the signature covers of a request. */
export type SignedRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

interface Statement extends Pick<Hop, 'owned' | 'granted' | 'client'> {
  readonly from: string;
  readonly to: string;
  readonly atMs: number;
}

/** Signs and verifies what a replica states about a request that it forwards. */
export class HopSignature {
  readonly #deps: HopSignatureDeps;

  constructor(deps: HopSignatureDeps) {
    this.#deps = deps;
  }

  /** The header for this request to this replica. */
  sign(request: SignedRequest, to: string, { owned, granted, client }: Omit<Forwarded, 'requestId'>): string {
    const { self, nowMs, keys } = this.#deps;
    const statement: Statement = { from: self, to, atMs: Math.round(nowMs()), owned, granted, client };
    const text = Buffer.from(JSON.stringify(statement)).toString('base64url');
    return `${text}.${createMac(keys().hopKey, request, text).toString('base64url')}`;
  }

  /**
   * Throws HOP_REFUSED unless a replica signed the header for this request and this replica, and HOP_EXPIRED unless it
   * did so within ten seconds.
   */
  verify(request: SignedRequest, isFrom: (replica: string) => boolean): Hop {
    const { self, nowMs } = this.#deps;
    const { from, to, atMs, owned, granted, client } = this.#open(request);
    if (to !== self) throw refused('it is for another replica');
    if (!isFrom(from)) throw refused('it was signed by another replica than the one that sent it');
    if (Math.abs(nowMs() - atMs) > LIFETIME_MS) throw httpErrors.HOP_EXPIRED({ headers: { 'retry-after': '1' } });
    return { replica: from, owned, granted, client };
  }

  #open(request: SignedRequest): Statement {
    const header = request.headers[HOP_HEADER];
    if (typeof header !== 'string' || header.length > MAX_CHARACTERS) throw refused('it has no hop header');
    const [text = '', mac = ''] = header.split('.', 2);
    const given = Buffer.from(mac, 'base64url');
    const isSigned = this.#deps.keys().hopKeys.some((key) => {
      const wanted = createMac(key, request, text);
      return given.length === wanted.length && timingSafeEqual(given, wanted);
    });
    if (!isSigned) throw refused('its signature is invalid');
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Statement; // written by `sign`
  }
}

/** Binds the statement to the request, so that it cannot be moved to another one. */
function createMac(key: KeyObject, { method = '', url = '', headers }: SignedRequest, text: string): Buffer {
  const lines = ['svc-hop-1', method, url, headers.host ?? '', text];
  return createHmac('sha256', key).update(lines.join('\n')).digest();
}

function refused(reason: string): Error {
  return httpErrors.HOP_REFUSED({ details: { reason } });
}
