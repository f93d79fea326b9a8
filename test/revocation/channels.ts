import type { CredentialKind, Way } from '@svc/platform/testing';
import { CLUSTER_CHANNELS } from './cluster-channels.ts';
import type { Open } from './open-channel.ts';
import type { Place } from './place.ts';
import { PORT_CHANNELS } from './port-channels.ts';
import { SANDBOX_CHANNELS } from './sandbox-channels.ts';
import { STORE_CHANNELS } from './store-channels.ts';

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

export const CHANNELS: Readonly<Record<string, Channel>> = {
  ...SANDBOX_CHANNELS,
  ...PORT_CHANNELS,
  ...CLUSTER_CHANNELS,
  ...STORE_CHANNELS,
};
