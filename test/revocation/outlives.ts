import type { CredentialKind, Way } from '@svc/platform/testing';

const SIGN_INS: ReadonlySet<CredentialKind> = new Set(['JWT', 'session cookie', 'OIDC token']);
/** In these, the member and the former owner keep a role that may write objects. */
const STILL_MAY_WRITE: ReadonlySet<Way> = new Set([
  "loses its member's role",
  'loses its workspace, which is transferred to another owner',
]);
const OF_THE_USER: ReadonlySet<Way> = new Set([
  'is deleted',
  'is signed out everywhere',
  'loses its password by a change',
  'loses its password by a link',
]);

/** Why a key or a mount made with the credential stays: it has its maker's rights, not its maker's credential. */
export function outlivesWithMaker(way: Way, kind: CredentialKind): string | null {
  if (STILL_MAY_WRITE.has(way)) return 'its maker may still read and write objects';
  if (SIGN_INS.has(kind) && OF_THE_USER.has(way)) return 'what a user makes outlives the sign-in';
  return null;
}
