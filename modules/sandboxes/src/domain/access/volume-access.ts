import type { KeyObject } from 'node:crypto';
import type { GrantedAccess } from '@svc/access';
import type { Clock, Random } from '@svc/runtime';
import { sandboxErrors } from '../../errors.ts';
import { newVolumeAccessId } from '../identifiers.ts';
import { accessToken, holderOf, isSame } from './access-token.ts';

/** What a credential was granted in a volume. */
export interface VolumeAccessRecord {
  /** `vla_…` */
  readonly id: string;
  readonly volumeId: string;
  readonly granted: GrantedAccess;
}

/** Records go with their volume. */
export interface VolumeAccessRepository {
  /** Stores the record unless the holder already has one in the volume. Returns the id of the stored record. */
  ensure(record: VolumeAccessRecord, holder: string, now: string): Promise<string>;
  find(id: string): Promise<VolumeAccessRecord | null>;
}

export interface VolumeAccessDeps {
  readonly repository: VolumeAccessRepository;
  readonly key: () => Promise<KeyObject>;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Random;
}

const PURPOSE = 'svc-volume-access';
const TOKEN = /^svc_(vla_[a-z2-7]{26})-[A-Za-z0-9_-]{43}$/;

/** Tokens for the files of one volume. A token lasts as long as the volume, the credential and its rights do. */
export class VolumeAccess {
  readonly #deps: VolumeAccessDeps;

  constructor(deps: VolumeAccessDeps) {
    this.#deps = deps;
  }

  /** Returns the token of this credential for the volume, which is the same every time. */
  async issue(volumeId: string, granted: GrantedAccess): Promise<string> {
    const { repository, random, clock, key } = this.#deps;
    const record = { id: newVolumeAccessId(random.bytes), volumeId, granted };
    const id = await repository.ensure(record, holderOf(granted), clock.now().toISOString());
    return accessToken(await key(), PURPOSE, id, volumeId);
  }

  /**
   * Returns what the token was granted; null if it was issued for this volume and the volume is gone. Throws
   * VOLUME_TOKEN_INVALID for any other token, so that a caller without one learns nothing about the volume.
   */
  async check(volumeId: string, token: string): Promise<GrantedAccess | null> {
    const id = TOKEN.exec(token)?.[1];
    if (id === undefined || !isSame(token, accessToken(await this.#deps.key(), PURPOSE, id, volumeId))) {
      throw sandboxErrors.VOLUME_TOKEN_INVALID();
    }
    const record = await this.#deps.repository.find(id);
    return record?.volumeId === volumeId ? record.granted : null;
  }
}
