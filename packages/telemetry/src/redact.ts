/** Replaces secrets in logs. */
export const REDACTED = '***';

/** Our tokens by prefix. Long prefixes need no word boundary: a token glued to other text is still a token. */
const TOKEN_SHAPES =
  /(svc_pat_|svc_agt_|svc_inv_|svc_tkt_|svc_pvw_|svc_sba_|svc_ses_|svc_dev_|tsec_|(?<![A-Za-z0-9])(?:sat_|e2b_))[A-Za-z0-9_-]{4,}/g;

/** Texts that may be or contain a JWT. */
const DOTTED = /[A-Za-z0-9_.-]+/g;
/** Every JSON header of a JWT begins with `eyJ…` (RFC 7519). */
const JWT_HEADER = /\beyJ[A-Za-z0-9_-]{4}/;

/** Values of URL parameters, and of `key=value` in connection strings and cookies. */
const NAMED_VALUES =
  /\b((?:access_|refresh_|id_|csrf_)?token|ticket|password|passwd|secret|client_secret|api_key|x-amz-(?:signature|credential|security-token)|signature)=[^&#;,\s"'\\]+/gi;

/** Credentials of an `Authorization` header and of the subprotocol `bearer.<token>`. */
const SCHEMES = /\b(bearer[ .]\s*|basic\s+)[A-Za-z0-9._~+/=-]{6,}/gi;

/** `scheme://user:password@host` (RFC 3986, section 3.2.1). */
const USER_INFO = /(:\/\/[^\s:/?#@"\\]*:)[^\s/?#@"\\]+@/g;

/**
 * Up to the end of the block, or of the text if truncated. `\n` may appear as two characters. A run of backslashes is taken as
 * a whole or not at all, so that it is read once.
 */
const PRIVATE_KEYS =
  /(-----BEGIN [A-Z ]*PRIVATE KEY-----)(?:[A-Za-z0-9+/=\s]|(?<!\\)\\+(?!["\\]))*(?=-----END|\\*"|$)/g;

/**
 * Redacts secrets in free text: URLs in request logs, messages of foreign errors, whole log lines. The replacement
 * contains no quote or backslash, so a line of JSON stays valid.
 */
export function redactText(text: string): string {
  return text
    .replace(TOKEN_SHAPES, `$1${REDACTED}`)
    .replace(DOTTED, redactJwt)
    .replace(NAMED_VALUES, `$1=${REDACTED}`)
    .replace(SCHEMES, `$1${REDACTED}`)
    .replace(USER_INFO, `$1${REDACTED}@`)
    .replace(PRIVATE_KEYS, `$1${REDACTED}`);
}

/** Keeps the header of a JWT, which is not secret. The text is split first, so that each part of it is searched once. */
function redactJwt(dotted: string): string {
  if (!dotted.includes('eyJ')) return dotted;
  const parts = dotted.split('.');
  const header = parts.findIndex((part, index) => JWT_HEADER.test(part) && (parts[index + 1] ?? '') !== '');
  return header === -1 ? dotted : [...parts.slice(0, header + 1), REDACTED].join('.');
}
