/** Work that one process at a time does, among several that share a store. */
export interface WorkLeaseCommands {
  /**
   * True when the work of this name is the holder's until `untilMs`: nobody had it, its time was over, or it was the
   * holder's already.
   */
  takeLease(input: { name: string; holder: string; nowMs: number; untilMs: number }): Promise<boolean>;
  /** Does nothing for a lease that is another's by now. */
  releaseLease(input: { name: string; holder: string }): Promise<void>;
}
