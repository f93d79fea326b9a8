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
  /** The registry itself may be used without TLS, so its token service may too. */
  readonly plainHttp: boolean;
  readonly nowMs: () => number;
}

const MAX_TOKEN_ANSWER_BYTES = 64 * 1024;
/** The specification's value where a server names none. */
const USUAL_LIFE_SECONDS = 60;
const MARGIN_MS = 10_000;

/** Who we are to one registry: nobody, Basic, or tokens that are fetched as its challenge says and kept while valid. */
export class Authentication {
  readonly #options: AuthenticationOptions;
  readonly #tokens = new Map<string, Token>();
  #basic = false;

  constructor(options: AuthenticationOptions) {
    this.#options = options;
  }

  /** The header for a request on the repository, as far as is known without asking. */
  headers(repository: string): Record<string, string> {
    const token = this.#tokens.get(repository);
    if (token !== undefined && token.expiresAtMs > this.#options.nowMs()) {
      return { authorization: `Bearer ${token.value}` };
    }
    return this.#basic ? basicHeader(this.#options.credentials) : {};
  }

  /** After a 401: learns from the challenge. False when there is nothing (more) to try. */
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
    value = null; // refused below with everything else that is no token
  }
  const answer = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}; // checked below
  const token = answer['token'] ?? answer['access_token'];
  // What is not visible ASCII could end the header and begin another.
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
