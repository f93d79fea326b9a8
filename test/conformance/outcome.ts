/** Outcome of a suite's test. */
export interface Outcome {
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped: the suite's message without parts that vary between runs. */
  readonly reason: string;
}

const REASON_LIMIT = 160;

/** Shortens a message to one line that is stable between runs. */
export function toReason(message: string): string {
  const text = message
    .replaceAll(/https?:\/\/127\.0\.0\.1:\d+/g, 'ENDPOINT')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'ENDPOINT')
    .replaceAll(/\btid_\w+/g, 'ACCESS KEY')
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*( \+0000 UTC)?/g, 'TIME')
    .replaceAll(/\b[0-9a-f]{32,}\b|\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, 'ID')
    .replaceAll(/0x[0-9a-f]{6,}/g, 'ADDRESS')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return text.length > REASON_LIMIT ? `${text.slice(0, REASON_LIMIT)}…` : text;
}

export function countOf(outcomes: readonly Outcome[], status: Outcome['status']): number {
  return outcomes.filter((each) => each.status === status).length;
}
