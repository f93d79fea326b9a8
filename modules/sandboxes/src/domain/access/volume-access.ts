import type { GrantedAccess } from '@svc/access';
import { sandboxErrors } from '../../errors.ts';
import { newVolumeAccessId } from '../identifiers.ts';
import { AccessTokens, type AccessTokensDeps } from './access-tokens.ts';

const PURPOSE = 'svc-volume-access';
const PATTERN = /^svc_(vla_[a-z2-7]{26})-[A-Za-z0-9_-]{43}$/;

/** Tokens for the files of one volume. */
export class VolumeAccess {
  readonly #tokens: AccessTokens;

  constructor(deps: AccessTokensDeps) {
    const invalid = () => sandboxErrors.VOLUME_TOKEN_INVALID();
    this.#tokens = new AccessTokens(deps, { newId: newVolumeAccessId, pattern: PATTERN, invalid });
  }

  /** Returns the token of this credential for the volume, which is the same every time. */
  issue(volumeId: string, granted: GrantedAccess): Promise<string> {
    return this.#tokens.issue(volumeId, granted, PURPOSE);
  }

  /** Returns what the token was granted; null if the volume is gone. Throws VOLUME_TOKEN_INVALID for any other token. */
  async check(volumeId: string, token: string): Promise<GrantedAccess | null> {
    return (await this.#tokens.check(volumeId, token, PURPOSE))?.granted ?? null;
  }
}
