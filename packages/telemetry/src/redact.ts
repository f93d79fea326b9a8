const TOKEN_SHAPES = /\b(svc_pat_|svc_agt_|sat_|tsec_|svc_inv_|svc_tkt_)[A-Za-z0-9_-]{4,}/g;
const QUERY_SECRETS =
  /([?&](?:token|ticket|X-Amz-Signature|X-Amz-Credential|X-Amz-Security-Token|signature)=)[^&#\s]*/gi;
const BEARER = /\b(bearer\.?\s*)[A-Za-z0-9._~+/=-]{8,}/gi;

/** Takes secrets out of free text: URLs for request logs, messages of foreign errors. */
export function redactText(text: string): string {
  return text.replace(TOKEN_SHAPES, '$1***').replace(QUERY_SECRETS, '$1***').replace(BEARER, '$1***');
}
