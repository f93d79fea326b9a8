import { toAmzDate } from './amz-date.ts';
import {
  ALGORITHM,
  canonicalRequest,
  stringToSign,
  UNSIGNED_PAYLOAD,
  type HeaderValues,
  type QueryParameter,
} from './canonical-request.ts';
import { credentialScope, deriveSigningKey, type SigningKey } from './signing-key.ts';
import { uriEncode } from './uri-encode.ts';

/** An S3 access key. */
export interface AccessKey {
  accessKeyId: string;
  secretAccessKey: string;
}

/** A means of signing for one region that need not hold the secret. */
export interface SigningCredential {
  readonly accessKeyId: string;
  readonly region: string;
  /** `date` is `yyyymmdd`. */
  signingKey(date: string): SigningKey;
}

/** A request to sign in its headers. */
export interface RequestToSign {
  method: string;
  /** Encoded as it will be sent. */
  path: string;
  parameters?: readonly QueryParameter[];
  /** Must include `host`, with a port other than the default. */
  headers: Readonly<Record<string, string>>;
  /** Lower-case names of headers to send without signing them. */
  unsignedHeaders?: readonly string[];
  /** SHA-256 of the body in hexadecimal. Defaults to `UNSIGNED-PAYLOAD`. */
  payloadHash?: string;
}

/** The result of signing a request in its headers. */
export interface SignedHeaders {
  /** The given headers with lower-case names, `x-amz-date`, `x-amz-content-sha256` and `authorization`. */
  headers: Record<string, string>;
  /** Chunk signatures chain from it. */
  signature: string;
}

/** A URL to sign in its query. */
export interface UrlToPresign {
  method: string;
  /** Base URL of the S3 service. */
  endpoint: string;
  /** Encoded, without the path of the endpoint; see `objectPath`. */
  path: string;
  /** Query parameters of the operation, such as `uploadId`. */
  parameters?: readonly QueryParameter[];
  /** Lower-case names. Clients of the URL must send these headers exactly. */
  headers?: Readonly<Record<string, string>>;
  expiresSeconds: number;
}

/** Creates a credential that keeps the derived key of one day: four of a signature's five rounds. */
export function createSigningCredential(
  { accessKeyId, secretAccessKey }: AccessKey,
  region: string,
): SigningCredential {
  let last: { date: string; key: SigningKey } | null = null;
  return {
    accessKeyId,
    region,
    signingKey: (date) => {
      if (last?.date !== date) last = { date, key: deriveSigningKey(secretAccessKey, date, region) };
      return last.key;
    },
  };
}

/**
 * Signs a request in its headers.
 *
 * @example
 *   const credential = createSigningCredential(accessKey, 'auto');
 *   const { headers } = signHeaders({ method: 'GET', path: '/b/k', headers: { host } }, credential, Date.now());
 */
export function signHeaders(request: RequestToSign, credential: SigningCredential, nowMs: number): SignedHeaders {
  const { method, path, parameters = [], unsignedHeaders = [], payloadHash = UNSIGNED_PAYLOAD } = request;
  const amzDate = toAmzDate(nowMs);
  const headers: Record<string, string> = { 'x-amz-date': amzDate, 'x-amz-content-sha256': payloadHash };
  for (const [name, value] of Object.entries(request.headers)) headers[name.toLowerCase()] = value;
  const signedHeaders = Object.keys(headers)
    .filter((name) => !unsignedHeaders.includes(name))
    .toSorted();
  const fields = { method, path, parameters, headers: headerValues(headers), signedHeaders, payloadHash };
  const scope = credentialScope(amzDate.slice(0, 8), credential.region);
  const signature = sign(canonicalRequest(fields), credential, amzDate);
  const claim = `Credential=${credential.accessKeyId}/${scope}, SignedHeaders=${signedHeaders.join(';')}`;
  return { headers: { ...headers, authorization: `${ALGORITHM} ${claim}, Signature=${signature}` }, signature };
}

/** Signs a URL in its query. The URL works until it expires, for anyone who has it. */
export function presignUrl(wanted: UrlToPresign, credential: SigningCredential, nowMs: number): string {
  const url = new URL(wanted.endpoint);
  const amzDate = toAmzDate(nowMs);
  const headers = { host: url.host, ...wanted.headers };
  const signedHeaders = Object.keys(headers).toSorted();
  const parameters: QueryParameter[] = [
    ...(wanted.parameters ?? []),
    { name: 'X-Amz-Algorithm', value: ALGORITHM },
    {
      name: 'X-Amz-Credential',
      value: `${credential.accessKeyId}/${credentialScope(amzDate.slice(0, 8), credential.region)}`,
    },
    { name: 'X-Amz-Date', value: amzDate },
    { name: 'X-Amz-Expires', value: String(wanted.expiresSeconds) },
    { name: 'X-Amz-SignedHeaders', value: signedHeaders.join(';') },
  ];
  const path = `${url.pathname.replace(/\/$/, '')}${wanted.path}`;
  const canonical = canonicalRequest({
    method: wanted.method,
    path,
    parameters,
    headers: headerValues(headers),
    signedHeaders,
    payloadHash: UNSIGNED_PAYLOAD,
  });
  const query = [...parameters, { name: 'X-Amz-Signature', value: sign(canonical, credential, amzDate) }];
  return `${url.origin}${path}?${query.map(({ name, value }) => `${uriEncode(name)}=${uriEncode(value)}`).join('&')}`;
}

function sign(canonical: string, credential: SigningCredential, amzDate: string): string {
  const date = amzDate.slice(0, 8);
  const scope = credentialScope(date, credential.region);
  return credential.signingKey(date).sign(stringToSign(amzDate, scope, canonical));
}

function headerValues(headers: Readonly<Record<string, string>>): HeaderValues {
  return { all: (name) => [headers[name] ?? ''] };
}
