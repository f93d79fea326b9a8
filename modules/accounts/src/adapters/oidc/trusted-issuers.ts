import type { Clock } from '@svc/runtime';
import { jwtVerify, type JWTPayload } from 'jose';
import { isJoseError } from '../../domain/jwt/access-jwt.ts';
import { normalizeEmail } from '../../domain/users/email.ts';
import { type Fetch, JwksCache } from './jwks-cache.ts';

export interface TrustedIssuer {
  issuer: string;
  audience: string;
  jwksUrl: string;
  emailClaim: string;
  /** Disable only for an issuer that verifies every e-mail but does not say so in `email_verified`. */
  requireVerifiedEmail: boolean;
  autoCreate: boolean;
}

export interface ExternalIdentity {
  issuer: string;
  subject: string;
  /** Null if the token has no verified e-mail: such a token works for a known subject only. */
  email: string | null;
  name: string | null;
  issuedAtMs: number;
  /** When the user signed in at the issuer, or the token's issue time if it does not say. */
  authenticatedAtMs: number;
  autoCreate: boolean;
}

/** Public-key signatures only: with a shared secret, the platform could forge the tokens that it verifies. */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const CLOCK_TOLERANCE_SECONDS = 30;
const MAX_SUBJECT_LENGTH = 255;

interface KnownIssuer {
  options: TrustedIssuer;
  keys: JwksCache;
}

/** External OpenID Connect issuers that the configuration trusts. */
export class TrustedIssuers {
  readonly #issuers: ReadonlyMap<string, KnownIssuer>;
  readonly #now: () => Date;

  constructor(issuers: readonly TrustedIssuer[], clock: Pick<Clock, 'now'>, fetch: Fetch) {
    this.#now = () => clock.now();
    this.#issuers = new Map(
      issuers.map((options) => [options.issuer, { options, keys: new JwksCache(options.jwksUrl, fetch, this.#now) }]),
    );
  }

  trusts(issuer: string): boolean {
    return this.#issuers.has(issuer);
  }

  /** Returns undefined if the token is not valid for this issuer. */
  async verify(issuer: string, token: string): Promise<ExternalIdentity | undefined> {
    const known = this.#issuers.get(issuer);
    if (known === undefined) return undefined;
    try {
      const { payload } = await jwtVerify(token, known.keys.find, {
        issuer,
        audience: known.options.audience,
        algorithms: ALGORITHMS,
        requiredClaims: ['sub', 'exp', 'iat'],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        currentDate: this.#now(),
      });
      return parseIdentity(payload, known.options, this.#now());
    } catch (error) {
      if (isJoseError(error)) return undefined;
      throw error;
    }
  }
}

function parseIdentity(payload: JWTPayload, options: TrustedIssuer, now: Date): ExternalIdentity | undefined {
  const { sub, iat, name } = payload;
  if (sub === undefined || sub === '' || sub.length > MAX_SUBJECT_LENGTH || iat === undefined) return undefined;
  // A token from the future would survive a later sign-out everywhere, and would count as just confirmed until then.
  if (iat > now.getTime() / 1000 + CLOCK_TOLERANCE_SECONDS) return undefined;
  const claim = payload[options.emailClaim];
  const authTime = payload['auth_time']; // OpenID Connect Core, section 2
  const verified = !options.requireVerifiedEmail || payload['email_verified'] === true;
  return {
    issuer: options.issuer,
    subject: sub,
    email: verified && typeof claim === 'string' ? (normalizeEmail(claim) ?? null) : null,
    name: typeof name === 'string' && name.trim() !== '' ? name.trim().slice(0, 100) : null,
    issuedAtMs: iat * 1000,
    authenticatedAtMs: (typeof authTime === 'number' ? Math.min(authTime, iat) : iat) * 1000,
    autoCreate: options.autoCreate,
  };
}
