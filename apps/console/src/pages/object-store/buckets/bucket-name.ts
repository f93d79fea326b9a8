/** Converts input like the platform: lower case, with any other run of characters as one hyphen. */
export function sanitizeBucketName(typed: string): string {
  return typed
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|(?<!-)-+$/g, '');
}

/** Why the input cannot become a bucket name; undefined if valid. */
export function bucketNameFault(typed: string): string | undefined {
  const name = sanitizeBucketName(typed);
  if (typed === '') return undefined;
  if (name.length < 3) return 'Enter at least 3 letters or digits.';
  if (name.length > 63) return 'Enter at most 63 characters.';
  return undefined;
}
