import { PresenceJournal } from './presence-journal.ts';
import { VersionJournal } from './version-journal.ts';
import { WriteJournal } from './write-journal.ts';

export const CRASH_BUCKET = 'crash';
export const VERSIONED_BUCKET = 'crash-versions';

/** All that the clients of a campaign know, over all its rounds. */
export interface CampaignState {
  readonly writes: WriteJournal;
  readonly versions: VersionJournal;
  readonly buckets: PresenceJournal;
  readonly accessKeys: PresenceJournal;
  /** Wrong answers that clients were given while the server ran. */
  readonly findings: string[];
  /** How many of each operation were answered. */
  readonly answered: Map<string, number>;
  cut: number;
}

export function campaignState(seed: number): CampaignState {
  return {
    writes: new WriteJournal(String(seed)),
    versions: new VersionJournal(String(seed)),
    buckets: new PresenceJournal(),
    accessKeys: new PresenceJournal(),
    findings: [],
    answered: new Map(),
    cut: 0,
  };
}

export function answeredTotal(state: CampaignState): number {
  return [...state.answered.values()].reduce((sum, count) => sum + count, 0);
}
