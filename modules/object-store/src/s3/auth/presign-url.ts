import type { Credential } from '../../domain/credential-cache.ts';
import type { QueryParameter } from '../query.ts';
import { RequestHeaders } from '../request-headers.ts';
import { canonicalRequest, stringToSign } from './canonical-request.ts';
import { UNSIGNED_PAYLOAD } from './payload-declaration.ts';
import { uriEncode } from './uri-encode.ts';

export interface UrlToSign {
  /** Base URL of the S3 plane. */
  endpoint: string;
  bucketName: string;
  key: string;
  method: 'GET' | 'PUT' | 'DELETE' | 'POST';
  /** Query parameters of the operation, such as `uploadId`. */
  parameters?: readonly QueryParameter[];
  /** Lower-case names. Clients of the URL must send these headers exactly. */
  headers?: Readonly<Record<string, string>>;
  credential: Credential;
  region: string;
  nowMs: number;
  expiresSeconds: number;
}

/** Signs a path-style URL in its query (Signature Version 4). The URL works until it expires. */
export function presignUrl(wanted: UrlToSign): string {
  const { credential, region, nowMs, headers: signedValues = {} } = wanted;
  const url = new URL(wanted.endpoint);
  const amzDate = new Date(nowMs).toISOString().replace(/[-:]|\.\d{3}/g, '');
  const date = amzDate.slice(0, 8);
  const scope = `${date}/${region}/s3/aws4_request`;
  const headers = { host: url.host, ...signedValues };
  const signedHeaders = Object.keys(headers).toSorted();
  const parameters: QueryParameter[] = [
    ...(wanted.parameters ?? []),
    { name: 'X-Amz-Algorithm', value: 'AWS4-HMAC-SHA256' },
    { name: 'X-Amz-Credential', value: `${credential.key.accessKeyId}/${scope}` },
    { name: 'X-Amz-Date', value: amzDate },
    { name: 'X-Amz-Expires', value: String(wanted.expiresSeconds) },
    { name: 'X-Amz-SignedHeaders', value: signedHeaders.join(';') },
  ];
  const path = `${url.pathname.replace(/\/$/, '')}/${[wanted.bucketName, ...wanted.key.split('/')].map(uriEncode).join('/')}`;
  const canonical = canonicalRequest({
    method: wanted.method,
    path,
    parameters,
    headers: new RequestHeaders(Object.entries(headers).flat()),
    signedHeaders,
    payloadHash: UNSIGNED_PAYLOAD,
  });
  const signature = credential.signingKey(date, region).sign(stringToSign(amzDate, scope, canonical));
  const query = [...parameters, { name: 'X-Amz-Signature', value: signature }];
  return `${url.origin}${path}?${query.map(({ name, value }) => `${uriEncode(name)}=${uriEncode(value)}`).join('&')}`;
}
