import { parseChallenge, type Challenge } from './challenge.ts';
import { RegistryFailure } from './registry-failure.ts';
import { readBody, type RegistryHttp } from './registry-http.ts';

export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
}

interface Token {
  readonly value: string;
  readonly expiresAtMs: number;
}

export interface AuthenticationOptions {
  readonly http: RegistryHttp;
  readonly credentials: RegistryCredentials | null;
  /** The registry may be used without TLS, and so may its token service. */
  readonly plainHttp: boolean;
  readonly nowMs: () => number;
}

const MAX_TOKEN_ANSWER_BYTES = 64 * 1024;
/** The specification's default if a server gives no lifetime. */
const USUAL_LIFE_SECONDS = 60;
const MARGIN_MS = 10_000;

/**
 * Authentication with one registry: anonymous, Basic, or tokens fetched according to its challenge and cached while
 * valid.
 */
export class Authentication {
  readonly #options: AuthenticationOptions;
  readonly #tokens = new Map<string, Token>();
  #basic = false;

  constructor(options: AuthenticationOptions) {
    this.#options = options;
  }

  /** Authorization header for the repository, from what is already known. */
  headers(repository: string): Record<string, string> {
    const token = this.#tokens.get(repository);
    if (token !== undefined && token.expiresAtMs > this.#options.nowMs()) {
      return { authorization: `Bearer ${token.value}` };
    }
    return this.#basic ? basicHeader(this.#options.credentials) : {};
  }

  /** Handles the challenge of a 401. Returns false if there is nothing (more) to try. */
  async answer(challenge: string, repository: string, registry: string, signal: AbortSignal): Promise<boolean> {
    const parsed = parseChallenge(challenge);
    if (parsed === null) return false;
    if (parsed.scheme === 'basic') {
      if (this.#basic || this.#options.credentials === null) return false;
      this.#basic = true;
      return true;
    }
    this.#tokens.delete(repository);
    this.#tokens.set(repository, await this.#fetchToken(parsed, repository, registry, signal));
    return true;
  }

  async #fetchToken(
    challenge: Extract<Challenge, { scheme: 'bearer' }>,
    repository: string,
    registry: string,
    signal: AbortSignal,
  ): Promise<Token> {
    const { http, credentials, plainHttp, nowMs } = this.#options;
    const url = URL.parse(challenge.realm);
    const allowed = plainHttp ? ['http:', 'https:'] : ['https:'];
    if (url === null || !allowed.includes(url.protocol) || url.username !== '') {
      throw new RegistryFailure(`${registry} names a token service that cannot be used`);
    }
    if (challenge.service !== null) url.searchParams.set('service', challenge.service);
    url.searchParams.set('scope', challenge.scope ?? `repository:${repository}:pull`);
    const { status, body } = await http.get(url, basicHeader(credentials), signal);
    const text = (await readBody(body, MAX_TOKEN_ANSWER_BYTES)).toString('utf8');
    if (status === 401 || status === 403) {
      throw new RegistryFailure(
        credentials === null
          ? `${registry} wants a user name and a password for ${repository}`
          : `${registry} refuses the user ${credentials.username} for ${repository}`,
      );
    }
    if (status !== 200) {
      throw new RegistryFailure(`the token service of ${registry} answers ${status}`, { retryable: status >= 500 });
    }
    return readToken(text, registry, nowMs());
  }
}

function readToken(text: string, registry: string, nowMs: number): Token {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null; // rejected below, like any other invalid answer
  }
  const answer = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}; // checked below
  const token = answer['token'] ?? answer['access_token'];
  // Characters other than visible ASCII could inject another header.
  if (typeof token !== 'string' || !/^[\x21-\x7e]{1,32768}$/.test(token)) {
    throw new RegistryFailure(`the token service of ${registry} answers without a token`);
  }
  const seconds = Number(answer['expires_in']);
  const lifeMs = (Number.isFinite(seconds) && seconds > 0 ? seconds : USUAL_LIFE_SECONDS) * 1000;
  return { value: token, expiresAtMs: nowMs + Math.max(lifeMs - MARGIN_MS, lifeMs / 2) };
}

function basicHeader(credentials: RegistryCredentials | null): Record<string, string> {
  if (credentials === null) return {};
  const text = Buffer.from(`${credentials.username}:${credentials.password}`, 'utf8').toString('base64');
  return { authorization: `Basic ${text}` };
}
