/** Formats an age: `45s`, `12m`, `3h`, `9d`. A dash for null. */
export function renderAge(timestamp: string | null, nowMs: number): string {
  if (timestamp === null) return '-';
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(timestamp)) / 1000));
  if (Number.isNaN(seconds)) return '-';
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** Formats `0.25` cores as `250m`; a dash without metrics. */
export function renderCores(cores: number | null): string {
  return cores === null ? '-' : `${Math.round(cores * 1000)}m`;
}

export function renderMebibytes(bytes: number | null): string {
  return bytes === null ? '-' : `${Math.round(bytes / 2 ** 20)}Mi`;
}
