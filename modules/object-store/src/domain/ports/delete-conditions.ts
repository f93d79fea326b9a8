/** Conditions on the version to delete. A missing version meets every condition, as there is nothing to delete. */
export interface DeleteConditions {
  /** ETags without quotes, or `*`. A delete marker has none. */
  ifMatch?: readonly string[];
  ifMatchSizeBytes?: number;
  /** Compared in whole seconds. */
  ifMatchModifiedAtMs?: number;
}
