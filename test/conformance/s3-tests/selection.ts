import { TEST_FILE } from './checkout.ts';

/** Tests of features outside of S3 (Ceph's own logging, its cloud tiers, IAM), and tests that S3 itself fails. */
const LEFT_OUT = [
  'bucket_logging',
  'bucket_logging_cleanup',
  'cloud_transition',
  'cloud_restore',
  'target_by_bucket',
  'iam_account',
  'iam_user',
  'fails_on_aws',
];

/** The marker expression of the set `aws`: 595 tests at the pinned commit. */
export const MARKERS = LEFT_OUT.map((marker) => `not ${marker}`).join(' and ');

/** Expects an account without any bucket, so it runs first. */
const FIRST = `${TEST_FILE}::test_list_buckets_paginated`;

/** Arguments of the two pytest runs. A pattern narrows the second and omits the first. */
export function selections(pattern?: string): string[][] {
  if (pattern !== undefined) return [['-k', pattern, TEST_FILE]];
  return [[FIRST], ['--deselect', FIRST, TEST_FILE]];
}
