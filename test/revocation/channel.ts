import type { CredentialKind, Way } from '@svc/platform/testing';
import type { Open } from './open-channel.ts';
import type { Place } from './place.ts';

/** Something that stays open, by the credential of a caller or by what was made with it. */
export interface Channel {
  /** The upgrade of the platform, or the file that holds the right; nothing for ordinary responses. */
  readonly through?: string;
  /** Why a credential of this kind cannot open it; null if it can. */
  readonly refuses?: (kind: CredentialKind) => string | null;
  /** Why it stays open; null if it ends. */
  readonly outlives?: (way: Way, kind: CredentialKind) => string | null;
  open(place: Place): Promise<Open>;
}
