/** What stands in a log instead of a secret. */
export const REDACTED = '***';

/**
 * Tokens of ours by their prefix. No boundary is asked for in front of the long prefixes: a token that was glued to
 * other text is still a token.
 */
const TOKEN_SHAPES =
  /(svc_pat_|svc_agt_|svc_inv_|svc_tkt_|svc_pvw_|svc_ses_|svc_dev_|tsec_|(?<![A-Za-z0-9])sat_)[A-Za-z0-9_-]{4,}/g;

/** `eyJ…` is how every JSON header of a JWT begins (RFC 7519); its first part alone is no secret. */
const JWT = /\b(eyJ[A-Za-z0-9_-]{4,})\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)*/g;

/** Values of URL parameters, and of `key=value` in connection strings and cookies. */
const NAMED_VALUES =
  /\b((?:access_|refresh_|id_|csrf_)?token|ticket|password|passwd|secret|client_secret|api_key|x-amz-(?:signature|credential|security-token)|signature)=[^&#;,\s"'\\]+/gi;

/** Credentials of an `Authorization` header and of the subprotocol `bearer.<token>`. */
const SCHEMES = /\b(bearer[ .]\s*|basic\s+)[A-Za-z0-9._~+/=-]{6,}/gi;

/** `scheme://user:password@host` (RFC 3986, section 3.2.1). */
const USER_INFO = /(:\/\/[^\s:/?#@"\\]*:)[^\s/?#@"\\]+@/g;

/** Up to the end of the block, or of the text where the block was cut. `\n` may stand there as two characters. */
const PRIVATE_KEYS = /(-----BEGIN [A-Z ]*PRIVATE KEY-----)[A-Za-z0-9+/=\s\\]*?(?=-----END|\\*"|$)/g;

/**
 * Takes secrets out of free text: URLs for request logs, messages of foreign errors, whole log lines. What it replaces
 * holds no quote and no backslash, so that a line of JSON stays one.
 */
export function redactText(text: string): string {
  return text
    .replace(TOKEN_SHAPES, `$1${REDACTED}`)
    .replace(JWT, `$1.${REDACTED}`)
    .replace(NAMED_VALUES, `$1=${REDACTED}`)
    .replace(SCHEMES, `$1${REDACTED}`)
    .replace(USER_INFO, `$1${REDACTED}@`)
    .replace(PRIVATE_KEYS, `$1${REDACTED}`);
}
