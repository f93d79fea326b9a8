import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/** AWS Signature Version 4 (docs.aws.amazon.com, "Signing AWS API requests"), for headers and for URLs. */
export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
}

export interface SignableRequest {
  method: string;
  /** Includes a non-default port. */
  host: string;
  /** Already encoded. */
  path: string;
  query: Readonly<Record<string, string>>;
  headers: Readonly<Record<string, string>>;
}

const REGION = 'auto';
const UNSIGNED = 'UNSIGNED-PAYLOAD';
const ALGORITHM = 'AWS4-HMAC-SHA256';

/** Caches the signing key derived from a secret for one day: four of a signature's five rounds. */
export class SigningKeys {
  #last: { secret: string; day: string; key: KeyObject } | null = null;

  of(secret: string, day: string): KeyObject {
    if (this.#last?.secret === secret && this.#last.day === day) return this.#last.key;
    const steps = [day, REGION, 's3', 'aws4_request'];
    const derived = steps.reduce<string | Buffer>(
      (key, step) => createHmac('sha256', key).update(step).digest(),
      `AWS4${secret}`,
    );
    this.#last = { secret, day, key: createSecretKey(Buffer.from(derived)) };
    return this.#last.key;
  }
}

/**
 * Returns the headers to add; signs all given headers. Bodies are verified by their checksum header, not by the
 * signature.
 */
export function signHeaders(
  request: SignableRequest,
  key: S3Credentials,
  nowMs: number,
  keys = new SigningKeys(),
): Record<string, string> {
  const date = amzDate(nowMs);
  const signed: Record<string, string> = {
    ...request.headers,
    host: request.host,
    'x-amz-content-sha256': UNSIGNED,
    'x-amz-date': date,
  };
  const { names, signature } = signatureOf(
    { ...request, headers: signed },
    keys.of(key.secretAccessKey, date.slice(0, 8)),
    date,
  );
  const scope = `${key.accessKeyId}/${scopeOf(date)}`;
  return {
    ...signed,
    authorization: `${ALGORITHM} Credential=${scope}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

/** Returns the query of a presigned URL, valid for `expiresSeconds`. */
export function presignQuery(
  request: SignableRequest,
  key: S3Credentials,
  { nowMs, expiresSeconds }: { nowMs: number; expiresSeconds: number },
): Record<string, string> {
  const date = amzDate(nowMs);
  const headers: Record<string, string> = { ...request.headers, host: request.host };
  const signingKey = new SigningKeys().of(key.secretAccessKey, date.slice(0, 8));
  const query: Record<string, string> = {
    ...request.query,
    'X-Amz-Algorithm': ALGORITHM,
    'X-Amz-Credential': `${key.accessKeyId}/${scopeOf(date)}`,
    'X-Amz-Date': date,
    'X-Amz-Expires': String(expiresSeconds),
    'X-Amz-SignedHeaders': signedNames(headers),
  };
  const { signature } = signatureOf({ ...request, headers, query }, signingKey, date);
  return { ...query, 'X-Amz-Signature': signature };
}

function signatureOf(request: SignableRequest, key: KeyObject, date: string): { names: string; signature: string } {
  const names = signedNames(request.headers);
  const byName = new Map(Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]));
  const headerLines = names
    .split(';')
    .map((name) => `${name}:${(byName.get(name) ?? '').trim().replaceAll(/ +/g, ' ')}`);
  const canonical = [
    request.method,
    request.path,
    renderQuery(request.query),
    ...headerLines,
    '',
    names,
    UNSIGNED,
  ].join('\n');
  const digest = createHash('sha256').update(canonical).digest('hex');
  const text = [ALGORITHM, date, scopeOf(date), digest].join('\n');
  return { names, signature: createHmac('sha256', key).update(text).digest('hex') };
}

function scopeOf(date: string): string {
  return `${date.slice(0, 8)}/${REGION}/s3/aws4_request`;
}

function signedNames(headers: Readonly<Record<string, string>>): string {
  return Object.keys(headers)
    .map((name) => name.toLowerCase())
    .sort()
    .join(';');
}

/** `20261121T150000Z`. */
function amzDate(nowMs: number): string {
  return `${new Date(nowMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
}

/** Renders the query in byte order, as the signature requires; also used for the request itself. */
export function renderQuery(query: Readonly<Record<string, string>>): string {
  return Object.entries(query)
    .map(([name, value]) => [encodeRfc3986(name), encodeRfc3986(value)] as const)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** Returns `/bucket/key`; keeps slashes in the key, and treats `.` and `..` as ordinary names. */
export function objectPath(bucket: string, key: string | undefined): string {
  if (key === undefined) return `/${encodeRfc3986(bucket)}`;
  return `/${encodeRfc3986(bucket)}/${key.split('/').map(encodeRfc3986).join('/')}`;
}

function encodeRfc3986(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
