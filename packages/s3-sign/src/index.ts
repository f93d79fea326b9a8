export { parseAmzDate, toAmzDate } from './amz-date.ts';
export {
  ALGORITHM,
  canonicalQuery,
  canonicalRequest,
  chunkStringToSign,
  EMPTY_SHA256,
  stringToSign,
  toQueryParameters,
  trailerStringToSign,
  UNSIGNED_PAYLOAD,
  type CanonicalFields,
  type HeaderValues,
  type QueryParameter,
} from './canonical-request.ts';
export {
  createSigningCredential,
  presignUrl,
  signHeaders,
  type AccessKey,
  type RequestToSign,
  type SignedHeaders,
  type SigningCredential,
  type UrlToPresign,
} from './sign.ts';
export { credentialScope, deriveSigningKey, SigningKey } from './signing-key.ts';
export { canonicalPath, objectPath, uriEncode } from './uri-encode.ts';
export { sameSignature, verifySignature, type SignatureSeed } from './verify.ts';
