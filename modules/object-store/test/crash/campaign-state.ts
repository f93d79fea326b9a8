import { StateJournal } from './state-journal.ts';
import { VersionJournal } from './version-journal.ts';
import { WriteJournal } from './write-journal.ts';

export const CRASH_BUCKET = 'crash';
export const VERSIONED_BUCKET = 'crash-versions';
export const TAGGED_BUCKET = 'crash-tags';
export const EXPIRING_BUCKET = 'crash-expiry';

/** Everything the clients of a campaign know, across all rounds. */
export interface CampaignState {
  readonly writes: WriteJournal;
  readonly versions: VersionJournal;
  readonly buckets: StateJournal<boolean>;
  readonly accessKeys: StateJournal<boolean>;
  /** Empty: no tag. Null: no object. */
  readonly tags: StateJournal<string | null>;
  /** Objects in the bucket with a lifecycle rule. */
  readonly aging: WriteJournal;
  /** Number of objects found expired by a rule. */
  expired: number;
  /** Wrong responses clients received while the server ran. */
  readonly findings: string[];
  /** Number of acknowledged operations, by name. */
  readonly answered: Map<string, number>;
  cut: number;
}

export function campaignState(seed: number): CampaignState {
  return {
    writes: new WriteJournal(String(seed)),
    versions: new VersionJournal(String(seed)),
    buckets: new StateJournal(false),
    accessKeys: new StateJournal(false),
    tags: new StateJournal<string | null>(null),
    aging: new WriteJournal(`${seed}-aging`),
    expired: 0,
    findings: [],
    answered: new Map(),
    cut: 0,
  };
}

export function answeredTotal(state: CampaignState): number {
  return [...state.answered.values()].reduce((sum, count) => sum + count, 0);
}
