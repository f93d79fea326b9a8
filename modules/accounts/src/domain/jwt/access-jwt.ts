import type { KeyObject } from 'node:crypto';
import type { Clock, Random } from '@svc/runtime';
import { jwtVerify, SignJWT } from 'jose';
import { secondsAfter } from '../timestamps.ts';
import type { SigningKeys } from './signing-keys.ts';

export interface AccessClaims {
  userId: string;
  /** The session that the token belongs to; null for guests. */
  sessionId: string | null;
  kind: 'user' | 'guest';
}

/** RFC 9068: prevents an access token from being confused with any other kind of JWT. */
const TOKEN_TYPE = 'at+jwt';
const AUDIENCE = 'svc';

/** Access tokens signed by the platform: EdDSA, valid for an hour, bound to a revocable session. */
export class AccessJwt {
  readonly #keys: SigningKeys;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly issuer: string;

  constructor(keys: SigningKeys, clock: Clock, random: Random, issuer: string) {
    this.#keys = keys;
    this.#clock = clock;
    this.#random = random;
    this.issuer = issuer;
  }

  async issue(claims: AccessClaims, lifetimeSeconds: number): Promise<{ token: string; expiresAt: Date }> {
    const issuedAt = this.#clock.now();
    const expiresAt = secondsAfter(issuedAt, lifetimeSeconds);
    const { kid, key } = this.#keys.signer();
    const token = await new SignJWT({
      kind: claims.kind,
      ...(claims.sessionId === null ? {} : { sid: claims.sessionId }),
    })
      .setProtectedHeader({ alg: 'EdDSA', typ: TOKEN_TYPE, kid })
      .setIssuer(this.issuer)
      .setAudience(AUDIENCE)
      .setSubject(claims.userId)
      .setJti(this.#random.uuid())
      .setIssuedAt(issuedAt)
      .setExpirationTime(expiresAt)
      .sign(key);
    return { token, expiresAt };
  }

  /** Returns undefined if the token is not valid, without a reason. */
  async verify(token: string): Promise<AccessClaims | undefined> {
    try {
      const { payload } = await jwtVerify(token, async ({ kid }) => this.#findKey(kid), {
        algorithms: ['EdDSA'],
        typ: TOKEN_TYPE,
        issuer: this.issuer,
        audience: AUDIENCE,
        requiredClaims: ['sub', 'exp', 'iat'],
        currentDate: this.#clock.now(),
      });
      const { sub, sid, kind } = payload;
      if (sub === undefined || (kind !== 'user' && kind !== 'guest')) return undefined;
      return { userId: sub, sessionId: typeof sid === 'string' ? sid : null, kind };
    } catch (error) {
      if (isJoseError(error)) return undefined;
      throw error;
    }
  }

  async #findKey(kid: string | undefined): Promise<KeyObject> {
    const key = kid === undefined ? undefined : await this.#keys.verifier(kid);
    if (key === undefined) throw new UnknownKey();
    return key;
  }
}

class UnknownKey extends Error {
  readonly code = 'ERR_JWT_UNKNOWN_KEY';
}

/** Errors of the library mean a bad token; any other error is a bug. */
export function isJoseError(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && /^ERR_J(OSE|W)/.test(error.code)
  );
}
