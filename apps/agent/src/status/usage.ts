/** Processor time in cores, memory in bytes. */
export interface Usage {
  cpu: number;
  memory: number;
}

/** What is used, and of how much: the two make the fractions of a heartbeat. */
export interface UsageOf {
  used: Usage;
  available: Usage;
}
