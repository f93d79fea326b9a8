/** What a version must be to be deleted. A version that is not there meets every condition, as there is nothing to do. */
export interface DeleteConditions {
  /** Entity tags without quotes, or `*`; a delete marker has none. */
  ifMatch?: readonly string[];
  ifMatchSizeBytes?: number;
  /** Whole seconds are compared. */
  ifMatchModifiedAtMs?: number;
}
