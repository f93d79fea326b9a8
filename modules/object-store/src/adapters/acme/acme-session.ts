import { storeErrors } from '../../errors.ts';
import type { AccountKey } from './account-key.ts';
import { readProblem, refused } from './acme-problem.ts';
import { sendRequest, type AuthorityAnswer } from './send-request.ts';

export interface AcmeSessionOptions {
  directoryUrl: string;
  ca: string | undefined;
  key: AccountKey;
  email: string | undefined;
}

export interface AcmeResource {
  url: string;
  body: Readonly<Record<string, unknown>>;
  retryAfterMs: number;
}

type Directory = Readonly<Record<'newNonce' | 'newAccount' | 'newOrder', string>>;

const NONCE_TRIES = 4;

/** Signed requests of one account (RFC 8555, section 6). Each order has its own session, so sessions share no state. */
export class AcmeSession {
  readonly #options: AcmeSessionOptions;
  readonly #signal: AbortSignal;
  #directory: Directory | null = null;
  #accountUrl: string | null = null;
  #nonce: string | null = null;

  constructor(options: AcmeSessionOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** Finds the key's account or creates it: `newAccount` does both (7.3.1). */
  async open(): Promise<void> {
    const { email } = this.#options;
    const directory = await this.#readDirectory();
    const contact = email === undefined ? {} : { contact: [`mailto:${email}`] };
    const account = await this.post(directory.newAccount, { termsOfServiceAgreed: true, ...contact });
    this.#accountUrl = account.url;
  }

  async newOrder(hostname: string): Promise<AcmeResource> {
    const { newOrder } = await this.#readDirectory();
    return await this.post(newOrder, { identifiers: [{ type: 'dns', value: hostname }] });
  }

  /** Without a payload, reads the resource at `url` (POST-as-GET). */
  async post(url: string, payload?: unknown): Promise<AcmeResource> {
    const answer = await this.#exchange(url, payload);
    return {
      url: answer.headers.location ?? url,
      body: parseObject(answer.body),
      retryAfterMs: parseRetryAfter(answer),
    };
  }

  async readText(url: string): Promise<string> {
    return (await this.#exchange(url, undefined)).body;
  }

  async #exchange(url: string, payload: unknown): Promise<AuthorityAnswer> {
    const { ca, key } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      const nonce = this.#nonce ?? (await this.#freshNonce());
      this.#nonce = null;
      const body = key.sign(payload, { nonce, url }, this.#accountUrl);
      const answer = await sendRequest(url, { method: 'POST', body, ca, signal: this.#signal });
      this.#nonce = parseHeader(answer.headers['replay-nonce']);
      if (answer.status < 400) return answer;
      const problem = readProblem(parseObject(answer.body));
      if (problem.type !== 'badNonce' || attempt === NONCE_TRIES) throw refused(problem);
    }
  }

  async #readDirectory(): Promise<Directory> {
    if (this.#directory !== null) return this.#directory;
    const { directoryUrl, ca } = this.#options;
    const { body } = await sendRequest(directoryUrl, { method: 'GET', ca, signal: this.#signal });
    const { newNonce, newAccount, newOrder } = parseObject(body);
    if (typeof newNonce !== 'string' || typeof newAccount !== 'string' || typeof newOrder !== 'string') {
      throw unexpected('its directory is none');
    }
    this.#directory = { newNonce, newAccount, newOrder };
    return this.#directory;
  }

  async #freshNonce(): Promise<string> {
    const { newNonce } = await this.#readDirectory();
    const { headers } = await sendRequest(newNonce, { method: 'HEAD', ca: this.#options.ca, signal: this.#signal });
    const nonce = parseHeader(headers['replay-nonce']);
    if (nonce === null) throw unexpected('it gave no nonce');
    return nonce;
  }
}

export function unexpected(what: string): Error {
  const reason = `unexpected response from the certificate authority (RFC 8555): ${what}`;
  return storeErrors.CertificateUnavailable({ details: { reason, problem: 'authority_answer_unreadable' } });
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = text === '' ? {} : JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {}; // callers report the members they miss
  }
}

function parseHeader(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && header !== '' ? header : null;
}

/** The delay between polls: the authority's `Retry-After`, at most 15 s; 500 ms without one. */
function parseRetryAfter({ headers }: AuthorityAnswer): number {
  const seconds = Number(headers['retry-after']);
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 15) * 1_000 : 500;
}
