import { toReason, type Outcome } from '../outcome.ts';

/** Parses a test's output: it passed if it says so, prints nothing else, and exits successfully. */
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
    .replaceAll(/test-bucket-\d+/g, 'BUCKET')
    .replaceAll(/RequestID: \S*?,/g, 'RequestID,');
  if (text.startsWith('fork/exec ./versitygw')) return "makes users through the gateway's own admin API";
  const unsupported = /operation error S3: (\w+), .*StatusCode: 501/s.exec(text);
  if (unsupported !== null) return `${unsupported[1]} is answered 501 NotImplemented`;
  return toReason(text);
}
