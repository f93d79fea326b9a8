/** CPU time in cores, memory in bytes. */
export interface Usage {
  cpu: number;
  memory: number;
}

/** Used and available amounts: together they give the fractions of a heartbeat. */
export interface UsageOf {
  used: Usage;
  available: Usage;
}
