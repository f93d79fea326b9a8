import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import { isSandboxId } from '../identifiers.ts';

/** The content of a link's token. */
export interface PreviewClaim {
  /** Id of the stored link, until it is revoked. */
  readonly linkId: string;
  readonly sandboxId: string;
  readonly port: number;
  readonly expiresAtMs: number;
}

/** Starts with the prefix that lets logs recognize our secrets. */
const TOKEN = /^svc_(pvw_[a-z2-7]{26})-([a-z2-7]{26})-([1-9]\d{0,4})-([1-9]\d{9,12})-([A-Za-z0-9_-]{43})$/;
const MAC_CHARACTERS = 43;

/** Returns a token whose characters are safe in a path, a query and a cookie. */
export function signClaim({ linkId, sandboxId, port, expiresAtMs }: PreviewClaim, key: KeyObject): string {
  const text = `svc_${linkId}-${sandboxId.replace(/^sbx_/, '')}-${port}-${Math.floor(expiresAtMs / 1000)}`;
  return `${text}-${macOf(text, key).toString('base64url')}`;
}

/** Returns null if this key did not sign the token. Does not check for expiry or revocation. */
export function verifyClaim(token: string, key: KeyObject): PreviewClaim | null {
  const claim = readClaim(token);
  if (claim === null) return null;
  const given = Buffer.from(token.slice(-MAC_CHARACTERS), 'base64url');
  const wanted = macOf(token.slice(0, -MAC_CHARACTERS - 1), key);
  return given.length === wanted.length && timingSafeEqual(given, wanted) ? claim : null;
}

/** Reads a token without checking its signature. */
function readClaim(token: string): PreviewClaim | null {
  const match = TOKEN.exec(token);
  if (match === null) return null;
  const [, linkId = '', id = '', port = '', seconds = ''] = match;
  const sandboxId = `sbx_${id}`;
  if (!isSandboxId(sandboxId)) return null;
  return { linkId, sandboxId, port: Number(port), expiresAtMs: Number(seconds) * 1000 };
}

function macOf(text: string, key: KeyObject): Buffer {
  return createHmac('sha256', key).update(`svc-preview\n${text}`).digest();
}
