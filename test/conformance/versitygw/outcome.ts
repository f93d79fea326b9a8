export interface Outcome {
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Why it failed or was skipped, in the suite's words without what differs from run to run. */
  readonly reason: string;
}

const REASON_LIMIT = 160;

/** Reads what one test printed: it passed when it said so, said nothing else, and ended well. */
export function outcomeOf(name: string, output: string, endedWell: boolean): Outcome {
  const lines = output.split('\n');
  const failure = lines.find((line) => line.startsWith('FAIL '));
  if (failure !== undefined) return { name, status: 'failed', reason: reasonIn(name, failure.slice('FAIL '.length)) };
  if (lines.some((line) => line.startsWith('panic: '))) {
    return { name, status: 'failed', reason: 'the test itself crashed at an answer it did not expect' };
  }
  if (endedWell && lines.some((line) => line.startsWith('PASS '))) return { name, status: 'passed', reason: '' };
  if (endedWell) return { name, status: 'skipped', reason: 'skipped by the suite' };
  const last = lines.findLast((line) => line.trim() !== '') ?? 'said nothing';
  return { name, status: 'failed', reason: reasonIn(name, last) };
}

function reasonIn(name: string, message: string): string {
  const text = message
    .replace(`${name}: `, '')
    .replace(/^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d /, '')
    .replaceAll(/https?:\/\/127\.0\.0\.1:\d+/g, 'ENDPOINT')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'ENDPOINT')
    .replaceAll(/\btid_\w+/g, 'ACCESS KEY')
    .replaceAll(/test-bucket-\d+/g, 'BUCKET')
    .replaceAll(/RequestID: \S*?,/g, 'RequestID,')
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*( \+0000 UTC)?/g, 'TIME')
    .replaceAll(/\b[0-9a-f]{32,}\b|\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, 'ID')
    .replaceAll(/0x[0-9a-f]{6,}/g, 'ADDRESS')
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (text.startsWith('fork/exec ./versitygw')) return "makes users through the gateway's own admin API";
  const unsupported = /operation error S3: (\w+), .*StatusCode: 501/.exec(text);
  if (unsupported !== null) return `${unsupported[1]} is answered 501 NotImplemented`;
  return text.length > REASON_LIMIT ? `${text.slice(0, REASON_LIMIT)}…` : text;
}
